// The architecture as the map of the page: the blocks of the run as in nmt/results/architecture.py,
// with the paths between them; a block that is chosen shows the tensors that leave it.
//
// A block is chosen as {stack: 0 (encoder) | 1 (decoder), number: from the input upwards, layer, position
// (in the encoder; in the decoder, it is the step chosen in "Translate")}.

const STACKS = ["encoder", "decoder"];
const MAX_FIGURES = 512; // numbers of a tensor that are written out
const SECTIONS = { // where else a block is explained
  embedding: ["translate"], positions: ["positions"], attention: ["attention", "by-hand"], norm: ["inside"],
  ffn: ["inside"], output: ["translate"],
};

const shapeText = (...sizes) => sizes.map((size) => size.toLocaleString("en")).join(" × ");
const blockTitle = (block) => block.title[language];
const blockDetail = (block) => block.detail[language];
const isSublayer = ({ kind }) => kind === "attention" || kind === "ffn";
const isSoftmax = (block) => block === data.blocks[1].at(-1);

// The blocks of a stack that stand in its layers come in pairs, a normalization and a sub-layer or the
// reverse. -> {block, number, part, norm}; part, of both: "self", "cross" or "ffn"; norm: from 1
function layeredBlocks(stack) {
  const blocks = data.blocks[stack].map((block, number) => ({ block, number })).filter(({ block }) => block.layers);
  return blocks.map((one, n) => {
    const sublayer = [one.block, blocks[n ^ 1].block].find(isSublayer);
    const part = sublayer.kind === "ffn" ? "ffn" : sublayer.keys_from_encoder ? "cross" : "self";
    return { ...one, part, norm: (n >> 1) + 1 };
  });
}

function layersOf(kind) { // the number of layers that have such an attention: "encoder", "decoder" or "cross"
  return kind === "encoder" ? data.sizes.num_layers : data.sizes.decoder_layers;
}

function crossAttention() { // the number of the block in the decoder
  return data.blocks[1].findIndex((block) => block.keys_from_encoder);
}

// ---- The tensors of a block ----

const stackIds = (stack) => (stack ? translation.state : translation.encoded).ids;

function blockPosition({ stack, position }) { // the row of each tensor that is written out
  return Math.max(0, Math.min(stack ? view.step : position, stackIds(stack).length - 1));
}

function chooseBlockPosition(position) {
  if (view.block.stack) chooseStep(position);
  else view.block.position = position;
}

// What leaves the chosen block: [{name, shape, rows (drawn as colors), numbers (written)}].
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
  if (part === "ffn") return [tensor("max(0, x W₁ + b₁)", rows("hidden")), ...output];
  const { keys, values } = (part === "cross" ? trace?.source : trace) ?? { keys: [], values: [] };
  const weights = rows("weights");
  return [tensor("q", rows("q")), tensor("k", keys), tensor("v", values),
    ...(weights.length ? [headsTensor(weights, position, keys.length)] : []), ...output];
}

// The weights of attention, of which those of one query are shown. weights: [query][head][key]
function headsTensor(weights, position, keys) {
  const heads = (weights[position] ?? weights.at(-1)).map((row) => // 0 for keys after the query
    Array.from({ length: keys }, (_, key) => row[key] ?? 0));
  return { name: say("block-weights"), shape: shapeText(weights.length, heads.length, keys),
    rows: heads, numbers: heads.flat() };
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

function blockButton(block, stack, number) {
  const count = block.shared ? say("shared") : block.parameters ? block.parameters.toLocaleString("en") : "";
  const button = element("button", { type: "button", className: block.kind },
    element("span", { textContent: blockTitle(block) }), element("span", { textContent: count }),
    element("small", { textContent: blockDetail(block) }));
  Object.assign(button.dataset, { stack, number });
  button.addEventListener("click", () => {
    const layer = Math.min(view.block.layer, block.layers || Infinity);
    view.block = { ...view.block, stack, number, layer };
    show(["block"]);
  });
  return button;
}

function showMap() {
  const columns = data.blocks.map((blocks, stack) => {
    const buttons = blocks.map((block, number) => blockButton(block, stack, number));
    const isLayered = (_, number) => blocks[number].layers > 0, first = blocks.findIndex(({ layers }) => layers);
    const frame = element("div", { className: "layers" }, ...buttons.filter(isLayered),
      element("small", { textContent: `${blocks[first].layers} ×` }));
    const column = element("div", { className: "stack" }, element("small", { className: "enters" }),
      ...buttons.slice(0, first), frame, ...buttons.slice(first).filter((_, n) => !isLayered(_, first + n)),
      element("small", { className: "leaves" }), element("h3", { textContent: say(STACKS[stack]) }));
    column.setAttribute("role", "group");
    column.setAttribute("aria-label", say(STACKS[stack]));
    return column;
  });
  at("architecture").replaceChildren(at("paths"), ...columns);
  sizeObserver.observe(at("architecture")); // draws the paths, now and whenever the size changes
}

// The paths of the residual stream: upwards from block to block, around each sub-layer, and from the
// output of the encoder to cross-attention.
function drawPaths() {
  const area = at("architecture").getBoundingClientRect(), paths = [], sums = [];
  const box = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return { left: left - area.left, right: right - area.left, top: top - area.top, bottom: bottom - area.top,
      x: (left + right) / 2 - area.left, y: (top + bottom) / 2 - area.top };
  };
  const path = (name, ...points) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    line.setAttribute("points", points.map((point) => point.join(",")).join(" "));
    line.setAttribute("class", name);
    paths.push(line);
  };
  const boxes = STACKS.map((_, stack) => [...at("architecture").querySelectorAll(`[data-stack="${stack}"]`)].map(box));
  const gap = boxes[0][0].top - boxes[0][1].bottom;
  boxes.forEach((column, stack) => {
    column.forEach(({ x, top, bottom }, n) => {
      path("flow", [x, n ? column[n - 1].top : bottom + gap], [x, bottom]);
      if (n === column.length - 1) path("flow", [x, top], [x, top - gap]);
    });
    const layered = layeredBlocks(stack);
    for (let n = 0; n < layered.length; n += 2) { // outside, around a pair, to the sum after its sub-layer
      const { block, number } = layered[n], branch = column[number].bottom + gap / 2;
      const { x, left, right, top } = column[isSublayer(block) ? number : number + 1], sum = top - 0.6 * gap;
      const side = stack ? right + 0.8 * gap : left - 0.8 * gap;
      path("residual", [x, branch], [side, branch], [side, sum], [stack ? x + 7 : x - 7, sum]);
      sums.push({ x, y: sum });
    }
  });
  const cross = boxes[1][crossAttention()];
  const { x, top } = boxes[0].at(-1), between = (boxes[0][0].right + cross.left) / 2;
  path("flow", [x, top - gap / 2], [between, top - gap / 2], [between, cross.y], [cross.left, cross.y]);
  at("paths").replaceChildren(at("arrow-head").parentNode, ...paths, ...sums.map(plus));
}

const sizeObserver = new ResizeObserver(drawPaths);

function plus({ x, y }) { // the sign of a sum on the residual stream
  const sign = document.createElementNS("http://www.w3.org/2000/svg", "path");
  sign.setAttribute("class", "sum");
  sign.setAttribute("d", `M${x - 6} ${y}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0M${x - 4} ${y}h8M${x} ${y - 4}v8`);
  return sign;
}

function choice(name, labels, chosen, change) { // a select with a name, of numbers from 0
  const box = element("select", { id: name });
  box.setAttribute("aria-label", say(name));
  options(box, labels);
  box.value = chosen;
  box.addEventListener("change", () => {
    change(Number(box.value));
    show(["block"]);
  });
  return box;
}

function drawTensor({ name, shape, rows, numbers }) {
  const canvas = element("canvas"), written = [...numbers].slice(0, MAX_FIGURES);
  canvas.setAttribute("aria-hidden", "true");
  heatmap(canvas, rows, MAX_FIGURES);
  const text = written.map((value) => value.toFixed(3).replace("-", "−")).join("  ");
  return [element("h3", {}, `${name}: `, element("span", { className: "shape", textContent: shape })), canvas,
    scrolling(element("span", { className: "figures faint", textContent: text + (written.length < numbers.length ? " …" : "") }), name)];
}

function seeAlso(block, { stack, number, layer }) { // links to the sections that explain a block
  const links = SECTIONS[block.kind].map((section) => element("a", { href: `#${section}`, textContent: say(section) }));
  for (const link of links) {
    link.addEventListener("click", () => {
      if (block.kind !== "attention") return;
      const { part } = layeredBlocks(stack).find((one) => one.number === number);
      at("kind").value = part === "cross" ? "cross" : STACKS[stack];
      showLayers();
      at("layer").value = layer - 1;
      at("hand-numbers").value = "run";
      show(["attention"]);
      showHand();
      chooseStrongestKey();
    });
  }
  return element("p", {}, say("see-also"), ...links.flatMap((link) => [" ", link]));
}

function showSizes() { // of this sentence, where its ids enter and vectors leave
  const width = data.sizes.d_model, source = translation.encoded.ids.length, target = translation.steps.length;
  const texts = { enters: [say("map-source", { number: source }), say("map-target", { number: target })],
    leaves: [say("map-encoded", { shape: shapeText(source, width) }),
      say("map-logits", { shape: shapeText(target, data.sizes.target_vocab_size) })] };
  for (const [place, labels] of Object.entries(texts)) {
    at("architecture").querySelectorAll(`.${place}`).forEach((one, stack) => { one.textContent = labels[stack]; });
  }
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
  const drawn = yield* perRow(tensors, drawTensor);
  const detail = blockDetail(block), focused = at("block").contains(document.activeElement) && document.activeElement.id;
  at("block").replaceChildren(element("h2", { textContent: blockTitle(block) + (detail ? `: ${detail}` : "") }), choices,
    element("p", { className: "faint", textContent: say("block-hint") }), ...drawn.flat(),
    element("p", { className: "faint", id: "parameters", textContent: block.shared ? say("block-shared")
      : parameters.length ? say("block-parameters", { list: parameters.join(", ") }) : say("block-none") }),
    seeAlso(block, view.block));
  if (focused) at(focused)?.focus();
}
