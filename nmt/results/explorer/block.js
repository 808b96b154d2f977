// The chosen block of the map: the tensors that leave it, its parameters, and where it is explained.

const SECTIONS = { // where else a block is explained
  embedding: ["translate"], positions: ["positions"], attention: ["attention", "by-hand"], norm: ["inside"],
  ffn: ["inside"], output: ["translate"],
};

// ---- The tensors of a block ----

const HIDDEN = { relu: "max(0, x W₁ + b₁)", swish: "swish(x W₁ + b₁)" }; // by activation

const stackIds = (stack) => (stack ? translation.state : translation.encoded).ids;

function blockPosition({ stack, position }) { // the row of each tensor that is written out
  return Math.max(0, Math.min(stack ? view.step : position, stackIds(stack).length - 1));
}

function chooseBlockPosition(position) {
  if (view.block.stack) chooseStep(position);
  else view.block.position = position;
}

// What leaves the chosen block, first what matters most, and last, as `inner`, what it is computed from:
// [{name, shape, rows (drawn as colors), numbers (written), keys (labels, of weights only), inner}].
function blockTensors(chosen) {
  const { stack, number, layer } = chosen, block = data.blocks[stack][number], position = blockPosition(chosen);
  const run = stack ? translation.state : translation.encoded;
  const tensor = (name, rows) => ({ name, rows, numbers: rows[position] ?? rows.at(-1),
    shape: rows.length ? shapeText(rows.length, rows[0].length) : "" });
  const whole = (rows) => [tensor(blockTitle(block), rows)];
  if (block.kind === "embedding" || block.kind === "positions") {
    const positions = block.kind === "positions" && view.what.positions;
    return whole(network.embed(STACKS[stack], run.ids, { positions }));
  }
  if (isSoftmax(block)) return whole(translation.steps.map(({ probabilities }) => probabilities));
  if (block.kind === "output") return whole(translation.steps.map(({ logits }) => logits));
  if (!block.layers) return whole(run.output);
  const trace = run.layers[layer - 1], { part } = layeredBlocks(stack).find((one) => one.number === number);
  const traces = trace?.[part] ?? []; // none: the layer, or cross-attention, is switched off
  const rows = (field) => traces.filter((one) => one[field]).map((one) => one[field]);
  if (block.kind === "norm") return whole(rows(data.sizes.pre_norm ? "input" : "stream"));
  const output = [tensor(say("block-output"), rows("output"))];
  if (data.sizes.pre_norm) output.push(tensor(say("block-sum"), rows("stream")));
  if (part === "ffn") return [...output, tensor(HIDDEN[data.sizes.activation], rows("hidden"))];
  const { keys, values } = (part === "cross" ? trace?.source : trace) ?? { keys: [], values: [] };
  const weights = rows("weights"), labels = stackIds(part === "cross" ? 0 : stack).map(label);
  const inner = [["q", rows("q")], ["k", keys], ["v", values]].map(([name, vectors]) => ({ ...tensor(name, vectors), inner: true }));
  return [...(weights.length ? [headsTensor(weights, position, labels)] : []), ...output, ...inner];
}

// The weights of attention, of which those of one query are shown. weights: [query][head][key]
function headsTensor(weights, position, keys) {
  const heads = (weights[position] ?? weights.at(-1)).map((row) => // 0 for keys after the query
    keys.map((_, key) => row[key] ?? 0));
  return { name: say("block-weights"), shape: shapeText(weights.length, heads.length, keys.length),
    rows: heads, numbers: heads.flat(), keys };
}

// The parameters of the chosen block: [{name, shape}] of the tensors that the page holds.
function blockParameters({ stack, number, layer }) {
  const block = data.blocks[stack][number], name = STACKS[stack];
  const layered = layeredBlocks(stack).find((one) => one.number === number);
  const prefix = !layered ? { embedding: `${name}.embedding`, norm: `${name}.norm.`, output: "final." }[block.kind]
    : `${name}.${layer}.${block.kind === "norm" ? `norm${layered.norm}` : layered.part}.`;
  if (!prefix || isSoftmax(block)) return [];
  return data.tensors.filter((tensor) => tensor.name.startsWith(prefix))
    .map((tensor) => ({ name: tensor.name.replace(`${name}.${layer}.`, ""), shape: tensor.shape }));
}

// ---- Drawing ----

const MAX_FIGURES = 512; // numbers of a tensor that are written out
const MAX_LABELS = 30; // keys of a row that have labels
function choice(name, labels, chosen, change) { // a select with a name, of numbers from 0
  const box = element("select", { id: name });
  box.setAttribute("aria-label", say(name));
  options(box, labels);
  box.value = chosen;
  box.addEventListener("change", () => {
    change(Number(box.value));
    followBlock();
    show(["block"]);
  });
  return box;
}

function drawTensor({ name, shape: sizes, rows, keys }) {
  const title = element("h3", {}, `${name}: `, element("span", { className: "shape", textContent: sizes }));
  if (keys) return [title, weightGrid(rows, keys)];
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  heatmap(canvas, rows, MAX_FIGURES);
  return [title, canvas];
}

// Weights as colors from 0 to 1, as everywhere on the page: a row per head, a column per key.
function weightGrid(rows, keys) {
  const cells = rows.flatMap((row, head) => [element("span", { textContent: head + 1 }), ...row.map((weight, key) => {
    const cell = element("i", { title: `${say("head")} ${head + 1}, ${keys[key]}: ${weight.toFixed(3)}` });
    cell.style.background = `rgba(var(--mark), ${weight})`;
    return cell;
  })]);
  const labels = keys.length > MAX_LABELS ? [] : ["", ...keys].map((text) => element("span", { className: "key", textContent: text, dir: "auto" }));
  const grid = element("div", { className: "weights" }, ...labels, ...cells);
  grid.style.gridTemplateColumns = `1.2rem repeat(${keys.length}, minmax(0, 1fr))`;
  return grid;
}

// The numbers of all tensors at the chosen position, and what the block computes them from: on demand.
function drawNumbers(tensors) {
  const written = tensors.flatMap((one) => {
    const text = [...one.numbers].slice(0, MAX_FIGURES).map((value) => value.toFixed(3).replace("-", "−")).join("  ");
    const figures = element("p", { className: "figures faint", textContent: text + (one.numbers.length > MAX_FIGURES ? " …" : "") });
    return [...(one.inner ? drawTensor(one) : [element("h3", { textContent: one.name })]), figures];
  });
  const names = tensors.filter(({ inner }) => inner).map(({ name }) => name);
  const summary = element("summary", { textContent: names.length ? say("block-inner", { list: names.join(", ") }) : say("block-numbers") });
  const details = element("details", { id: "numbers", open: view.hasNumbers }, summary, ...written);
  details.addEventListener("toggle", () => { view.hasNumbers = details.open; });
  return details;
}

// Lets "Attention" show the chosen block, its layer and its position, if it is one of attention.
function followBlock() {
  const { stack, number, layer } = view.block;
  if (data.blocks[stack][number].kind !== "attention") return;
  const { part } = layeredBlocks(stack).find((one) => one.number === number);
  at("kind").value = part === "cross" ? "cross" : STACKS[stack];
  showLayers();
  at("layer").value = layer - 1;
  view.held = null;
  show(["attention", "hand"]);
}

function seeAlso(block) { // links to the sections that explain a block
  const links = SECTIONS[block.kind].map((section) => element("a", { href: `#${section}`, textContent: say(section) }));
  for (const link of links) {
    link.addEventListener("click", () => {
      if (block.kind !== "attention") return;
      followBlock();
      at("hand-numbers").value = "run";
      showHand();
      chooseStrongestKey();
    });
  }
  return element("p", {}, say("see-also"), ...links.flatMap((link) => [" ", link]));
}

function* showBlock() {
  showSizes();
  for (const button of at("architecture").querySelectorAll("button")) {
    const chosen = Number(button.dataset.stack) === view.block.stack && Number(button.dataset.number) === view.block.number;
    button.classList.toggle("chosen", chosen);
    button.setAttribute("aria-pressed", chosen);
  }
  const block = data.blocks[view.block.stack][view.block.number];
  const tensors = blockTensors(view.block).filter(({ rows }) => rows.length);
  const parameters = blockParameters(view.block).map(({ name, shape }) => `${name} ${shapeText(...shape)}`);
  const choices = element("div", { className: "row" });
  if (block.layers) {
    const layers = Array.from({ length: block.layers }, (_, n) => `${say("block-layer")} ${n + 1}`);
    choices.append(choice("block-layer", layers, view.block.layer - 1, (layer) => { view.block.layer = layer + 1; }));
  }
  const positions = Array.from({ length: Math.max(1, stackIds(view.block.stack).length) }, (_, position) =>
    view.block.stack ? say("block-step", { position, step: position + 1 }) : `${say("block-position")} ${position}`);
  choices.append(choice("block-position", positions, blockPosition(view.block), chooseBlockPosition));
  const drawn = yield* perRow(tensors.filter(({ inner }) => !inner), drawTensor);
  const detail = blockDetail(block), focused = at("block").contains(document.activeElement) && document.activeElement.id;
  at("block").replaceChildren(element("h2", { textContent: blockTitle(block) + (detail ? `: ${detail}` : "") }), choices,
    ...drawn.flat(), element("p", { className: "faint", textContent: say(tensors[0]?.keys ? "block-weights-hint" : "block-hint") }),
    ...(tensors.length ? [drawNumbers(tensors)] : []),
    element("p", { className: "faint", id: "parameters", textContent: block.shared ? say("block-shared")
      : parameters.length ? say("block-parameters", { list: parameters.join(", ") }) : say("block-none") }),
    seeAlso(block));
  if (focused) at(focused)?.focus();
}
