// Connects what is computed with what is seen.

const at = (id) => document.getElementById(id);
const read = (id) => JSON.parse(at(id).textContent);
const texts = read("texts"), data = read("data");
const MEAN = "mean", MAX_TOKENS = 200;
const tokenizer = new Tokenizer(data.vocabulary);
const network = new Network(data.sizes, readTensors(data.tensors, at("weights").textContent));
const fileSize = document.documentElement.outerHTML.length / 1e6;
let language = navigator.language.startsWith("zh") ? 1 : 0; // a column of texts

const view = { // what the reader has chosen
  source: "", forced: [], step: 0, what: { ...AS_TRAINED, withoutHeads: [], withoutLayers: [] },
  held: null, block: null, playing: 0, stepping: false, fromRun: false,
};
let translation = new Translation(network, [START, END]); // with the switches
let former = null; // as trained, while something is switched off

function say(name, filled = {}) {
  return texts[name][language].replace(/\{(\w+)\}/g, (_, key) => filled[key] ?? "");
}

function options(select, labels, values) {
  const before = select.value;
  select.replaceChildren(...labels.map((label, n) => new Option(label, values ? values[n] : n)));
  if ([...select.options].some((option) => option.value === before)) select.value = before;
}

const label = (id) => tokenLabel(tokenizer.piece(id));
const percent = (probability) => `${(100 * probability).toFixed(probability < 0.001 ? 4 : 1)}%`;

// ---- Translating ----

function sampling() {
  const number = (id, least, most) => Math.min(most, Math.max(least, Number(at(id).value) || 0));
  return { temperature: number("temperature", 0, 100), topK: number("top-k", 0, 1e9),
    topP: number("top-p", 0.001, 1) || 1, random: Math.random };
}

function sourceIds() {
  const ids = tokenizer.encode(view.source);
  const tooLong = ids.length > MAX_TOKENS;
  at("warning").textContent = tooLong ? say("too-long", { number: MAX_TOKENS }) : "";
  return tooLong ? ids.slice(0, MAX_TOKENS) : ids;
}

let job = 0; // number of the translation that is wanted: a later one ends those before it

async function translate() { // with pauses, so that typing never waits
  const current = ++job, begin = performance.now(), ids = sourceIds();
  const next = new Translation(network, ids, view.what, view.forced, sampling());
  let slice = performance.now();
  if (!view.stepping) {
    while (next.step()) {
      if (performance.now() - slice < 30) continue;
      await new Promise((resume) => setTimeout(resume));
      if (current !== job) return;
      slice = performance.now();
    }
  }
  translation = next;
  view.step = Math.max(0, translation.steps.length - 1);
  if (view.focusStep !== undefined) view.step = Math.min(view.focusStep, view.step);
  view.held = null;
  const ms = (performance.now() - begin).toFixed(0);
  compare(ids);
  show(say("milliseconds", { ms, tokens: translation.steps.length }));
}

function switchedOff() {
  return JSON.stringify(view.what) !== JSON.stringify(AS_TRAINED);
}

function compare(ids) { // what the switches change
  if (!switchedOff() || view.stepping || ids.length <= 2) { former = null; return; }
  former = new Translation(network, ids, AS_TRAINED, view.forced).finish();
  const again = network.sizes.non_autoregressive ? translation
    : new Translation(network, ids, view.what, former.target.slice(1)).finish();
  const logs = again.steps.slice(0, former.steps.length).reduce((sum, { probabilities }, n) =>
    sum + Math.log(probabilities[former.target[n + 1]]), 0);
  const longest = Math.max(former.target.length, translation.target.length);
  former.changed = Array.from({ length: longest }, (_, n) => former.target[n] !== translation.target[n])
    .filter(Boolean).length;
  Object.assign(former, { all: longest - 1, now: Math.exp(logs), before: Math.exp(former.logProbability()) });
}

// ---- Showing ----

function show(timing) {
  if (timing) at("timing").textContent = timing;
  showTranslation();
  showAttention();
  showHand();
  showChanged();
  showInside();
  showBlock();
}

function chip(id, chosen) {
  return [label(id), element("small", { textContent: id })];
}

function showTranslation() {
  at("source-tokens").replaceChildren(...translation.encoded.ids.map((id) =>
    element("span", { dir: "auto" }, ...chip(id))));
  at("translation").textContent = tokenizer.decode(translation.target);
  const notes = [at("timing").textContent.split(" · ")[0]];
  if (view.fromRun) notes.push(say("as-run"));
  else if (view.forced.length) notes.push(say("forced", { number: view.forced.length }));
  at("timing").textContent = notes.join(" · ");
  at("target-tokens").replaceChildren(...translation.steps.map((step, n) => {
    const id = translation.target[n + 1];
    const button = element("button", { type: "button", dir: "auto" }, ...chip(id));
    button.setAttribute("aria-pressed", n === view.step);
    button.classList.toggle("chosen", n === view.step);
    button.addEventListener("click", () => {
      view.step = n;
      show();
      at("target-tokens").children[n].focus();
    });
    return button;
  }));
  showCandidates();
  const parallel = network.sizes.non_autoregressive;
  for (const id of ["play", "step", "restart", "sampling"]) {
    if (id === "sampling") at(id).hidden = parallel;
    else at(id).disabled = parallel;
  }
  at("play").textContent = say(view.playing ? "pause" : "play");
}

function showCandidates() {
  const step = translation.steps[view.step];
  at("candidates-title").textContent = step ? say("candidates", { step: view.step + 1 }) : "";
  const tokens = step ? likeliest(step.probabilities, 10) : [];
  at("candidates").replaceChildren(...tokens.map(({ id, probability }) => {
    const bar = element("i");
    bar.style.width = `${100 * probability}%`;
    const button = element("button", { type: "button" }, bar,
      element("span", { textContent: label(id), dir: "auto" }), element("span", { textContent: percent(probability) }));
    button.dataset.id = id;
    button.classList.toggle("chosen", id === translation.target[view.step + 1]);
    button.disabled = network.sizes.non_autoregressive || id === PAD || id === START;
    button.addEventListener("click", () => {
      view.forced = [...translation.target.slice(1, view.step + 1), id];
      view.fromRun = false;
      view.focusStep = view.step;
      if (view.stepping) { stepTo(view.forced.length); view.focusStep = undefined; } else translate().then(() => { view.focusStep = undefined; });
    });
    return element("li", {}, button);
  }));
}

function attentionSides() { // queries and keys (units), weights [query][key]
  const kind = at("kind").value, names = (ids) => ids.map((id) => tokenizer.piece(id));
  const heads = translation.attention(kind, Number(at("layer").value) + 1), head = at("head").value;
  const traces = heads[0].length;
  const queries = unitsOf(names(translation.queries(kind)).slice(0, traces), at("units").value);
  const keys = unitsOf(names(translation.keys(kind)), at("units").value);
  const chosen = head === MEAN ? heads : [heads[head]];
  return { queries: queries.map((one) => one.label), keys: keys.map((one) => one.label),
    weights: unitWeights(chosen, queries, keys) };
}

function unitButtons(list, labels, title) {
  const heading = element("li", {}, element("h4", { textContent: title }));
  list.replaceChildren(heading, ...labels.map((text, n) => {
    const button = element("button", { type: "button", dir: "auto", textContent: text });
    button.dataset.number = n;
    return element("li", {}, button);
  }));
}

const buttons = (id) => [...at(id).querySelectorAll("button")];
let sides;

function showAttention() {
  const kind = at("kind").value;
  sides = attentionSides();
  at("note").textContent = at("units").value === "tokens" ? say("continues") : "";
  const title = { cross: "queries-generated", encoder: "queries-source", decoder: "queries-input" }[kind];
  unitButtons(at("queries"), sides.queries, say(title));
  unitButtons(at("keys"), sides.keys, say(kind === "decoder" ? "keys-input" : "keys-source"));
  choose(view.held);
}

function choose(chosen) { // {side, number} of a token of the attention view, or null
  drawLines(at("view"), sides.weights, chosen);
  for (const side of ["queries", "keys"]) {
    buttons(side).forEach((button, n) => {
      button.classList.toggle("chosen", !!chosen && chosen.side === side && chosen.number === n);
      const weight = !chosen || chosen.side === side ? 0
        : side === "keys" ? sides.weights[chosen.number][n] : sides.weights[n][chosen.number];
      button.style.background = weight ? `rgba(var(--mark), ${0.6 * weight})` : "";
    });
  }
  at("description").textContent = chosen ? describe(chosen) : "";
}

function describe({ side, number }) {
  const labels = side === "queries" ? sides.keys : sides.queries;
  const weights = labels.map((text, n) =>
    [text, side === "queries" ? sides.weights[number][n] : sides.weights[n][number]]);
  const strongest = weights.sort((a, b) => b[1] - a[1]).slice(0, 5);
  const list = strongest.map(([text, weight]) => `\u2068${text}\u2069 ${weight.toFixed(3)}`).join(", ");
  return say(side === "queries" ? "attends" : "attended", { unit: `\u2068${sides[side][number]}\u2069`, list });
}

function handInputs() { // what by_hand.js calculates with; null if there is nothing
  if (at("hand-numbers").value === "tutorial") {
    const { keys, values, labels, q } = TUTORIAL;
    return { queries: TUTORIAL.queries, labels, all: q, keys, values, masked: () => [false, false], scaling: true };
  }
  const kind = at("kind").value, layer = Number(at("layer").value);
  const traces = translation.traces(kind, layer + 1), trace = (kind === "encoder" ? translation.encoded : translation.state).layers[layer];
  if (!traces.length || !traces[0].q) return null;
  const from = Number(at("hand-head").value) * network.depth, cut = (row) => row.slice(from, from + network.depth);
  const { keys, values } = kind === "cross" ? trace.source : trace, labels = translation.keys(kind).map(label);
  return { queries: translation.queries(kind).slice(0, traces.length).map(label), labels,
    all: traces.map((one) => cut(one.q)), keys: keys.slice(0, labels.length).map(cut),
    values: values.slice(0, labels.length).map(cut),
    masked: (query) => labels.map((_, k) => traces[query].masked[k] ?? true), scaling: view.what.scaling };
}

function showHand() {
  const given = handInputs();
  at("hand-head").disabled = at("hand-numbers").value === "tutorial";
  if (!given) { at("hand").replaceChildren(); return; }
  options(at("hand-query"), given.queries);
  options(at("hand-key"), given.labels);
  const query = Number(at("hand-query").value), key = Number(at("hand-key").value);
  drawByHand(at("hand"), { ...given, q: given.all[query], masked: given.masked(query) }, key, say);
}

function showChanged() {
  at("changed").textContent = !former ? (switchedOff() ? "" : say("unchanged")) : say("changed", {
    changed: former.changed, all: former.all, before: percent(former.before), after: percent(former.now),
    text: `\u2068${tokenizer.decode(former.target)}\u2069` });
}

// The residual stream at the chosen step: [{name, layer, stream}] after each sub-layer.
function streamAt(step) {
  const { state } = translation, result = [{ name: "embedded", layer: 0, stream: state.embedded[step] }];
  state.layers.forEach((trace, n) => {
    for (const [part, name] of [["self", "self-attention"], ["cross", "cross-attention"], ["ffn", "feed-forward"]]) {
      if (trace[part][step]?.output) result.push({ name, layer: n + 1, stream: trace[part][step].stream });
    }
  });
  return result;
}

function showInside() {
  if (!translation.steps.length) { at("stream").replaceChildren(); at("layernorm").textContent = ""; at("fires").replaceChildren(); return; }
  const rows = streamAt(view.step).map(({ name, layer, stream }) => {
    const [finished] = network.finish("decoder", [stream]);
    const [best] = likeliest(softmax(network.logits(finished)), 1);
    return [say(name, { layer }), figure(norm(stream)), `\u2068${label(best.id)}\u2069 ${percent(best.probability)}`];
  });
  at("stream").replaceChildren(table([say("after"), say("length"), say("prediction")], rows));
  const layers = translation.state.layers.map((trace, n) => [trace.ffn[view.step], n + 1]).filter(([one]) => one);
  at("fires").replaceChildren(...layers.map(([trace, layer]) => {
    const strongest = likeliest(trace.hidden, 5).map(({ id, probability }) => `${id}: ${probability.toFixed(3)}`);
    return element("p", { className: "figures", textContent: say("units-fire", { layer, all: trace.hidden.length,
      active: trace.hidden.filter((value) => value > 0).length, list: strongest.join(", ") }) });
  }));
  const last = layers.at(-1)?.[0];
  const before = last ? (network.sizes.pre_norm ? translation.state.layers[layers.at(-1)[1] - 1].cross[view.step].stream
    : add(last.input, last.output)) : [];
  const mean = before.reduce((a, b) => a + b, 0) / before.length;
  const deviation = Math.sqrt(before.reduce((a, b) => a + (b - mean) ** 2, 0) / before.length);
  at("layernorm").textContent = last ? say("layernorm", { mean: figure(mean), deviation: figure(deviation) }) : "";
}

function showPositions() {
  const width = network.sizes.d_model, position = Math.max(0, Number(at("position").value) || 0);
  const dimension = Math.min(width - 1, Math.max(0, Number(at("dimension").value) || 0));
  const even = 2 * (dimension >> 1), angle = position / 10000 ** (even / width);
  at("dimension").max = width - 1;
  at("formula").textContent = say("position-formula", { function: dimension % 2 ? "cos" : "sin", position, even, width,
    angle: figure(angle), value: figure(positionalEncoding(position, width)[dimension]) });
  heatmap(at("encoding"), Array.from({ length: 40 }, (_, n) => positionalEncoding(n, width)));
}

// ---- The map ----

const BLOCK_PARTS = [["Self-attention", "self"], ["Masked self-attention", "self"], ["Cross-attention", "cross"],
  ["Feed-forward", "ffn"]];

function blockNumbers(stack, number) { // the rows that leave a block: [[name, rows]]
  const column = data.blocks[stack], block = column[number], layer = view.block.layer;
  const source = stack === 0 ? translation.encoded : translation.state;
  const trace = source.layers[layer - 1];
  if (block.kind === "embedding" || block.kind === "positions") {
    const width = network.sizes.d_model, ids = source.ids;
    const embedded = network.embed(stack ? "decoder" : "encoder", ids, { positions: block.kind === "positions" && view.what.positions });
    return [[block.title, embedded]];
  }
  if (block.kind === "output") {
    const rows = translation.steps.map(({ logits, probabilities }) => (block.title === "Softmax" ? probabilities : logits));
    return [[block.title, rows]];
  }
  if (!block.layers) return [[block.title, source.output]];
  const neighbour = block.kind === "norm" ? column[number + (network.sizes.pre_norm ? 1 : -1)] : block;
  const part = BLOCK_PARTS.find(([title]) => neighbour.title.startsWith(title))[1], traces = trace?.[part] ?? [];
  const rows = (name) => traces.filter((one) => one[name]).map((one) => one[name]);
  if (block.kind === "norm") return [[block.title, rows(network.sizes.pre_norm ? "input" : "stream")]];
  if (part === "ffn") return [["max(0, x W1 + b1)", rows("hidden")], ["W2 + b2", rows("output")], ["x + …", rows("stream")]];
  const cache = part === "cross" ? trace?.source : trace;
  return [["q", rows("q")], ["k", cache?.keys ?? []], ["v", cache?.values ?? []], ["output", rows("output")], ["x + …", rows("stream")]];
}

function showArchitecture() {
  const columns = data.blocks.map((column, stack) => {
    const list = column.map((block, number) => {
      const count = block.shared ? "=" : block.parameters ? block.parameters.toLocaleString("en") : "";
      const button = element("button", { type: "button", className: block.kind },
        element("span", { textContent: block.title }), element("span", { textContent: count }));
      button.classList.toggle("layered", block.layers > 0);
      button.addEventListener("click", () => {
        view.block = { stack, number, layer: view.block?.layer ?? 1, position: view.block?.position ?? 0 };
        showBlock();
      });
      return button;
    });
    const title = element("h3", { textContent: say(stack ? "decoder" : "encoder") });
    return element("div", {}, ...list, title);
  });
  at("architecture").replaceChildren(...columns);
}

function showBlock() {
  [...at("architecture").children].forEach((column, stack) => [...column.querySelectorAll("button")].forEach((button, number) => {
    const chosen = view.block?.stack === stack && view.block.number === number;
    button.classList.toggle("chosen", chosen);
    button.setAttribute("aria-pressed", chosen);
  }));
  if (!view.block) return;
  const block = data.blocks[view.block.stack][view.block.number], parts = blockNumbers(view.block.stack, view.block.number);
  const longest = Math.max(1, ...parts.map(([, rows]) => rows.length));
  const position = view.block.position = Math.min(view.block.position, longest - 1);
  const select = (name, count, value, first) => {
    const box = element("select");
    box.setAttribute("aria-label", say(name));
    options(box, Array.from({ length: count }, (_, n) => `${say(name)} ${n + first}`));
    box.value = value;
    return box;
  };
  const layers = select("block-layer", network.sizes.num_layers, view.block.layer - 1, 1);
  const positions = select("block-position", longest, position, 0);
  layers.hidden = !block.layers;
  layers.addEventListener("change", () => { view.block.layer = Number(layers.value) + 1; showBlock(); });
  positions.addEventListener("change", () => { view.block.position = Number(positions.value); showBlock(); });
  const drawn = parts.filter(([, rows]) => rows.length).flatMap(([name, rows]) => {
    const canvas = element("canvas"), numbers = [...(rows[position] ?? [])].slice(0, 512).map((value) => value.toFixed(3));
    canvas.setAttribute("aria-hidden", "true");
    heatmap(canvas, rows, 512);
    return [element("h3", { textContent: `${name}: ${say("block-shape", { shape: `${rows.length} × ${rows[0].length}` })}` }), canvas,
      element("div", { className: "scroll figures faint", tabIndex: 0, textContent: numbers.join("  ") })];
  });
  at("block").replaceChildren(element("h2", { textContent: `${block.title}${block.detail ? `: ${block.detail}` : ""}` }),
    element("div", { className: "row" }, layers, positions), element("p", { className: "faint", textContent: say("block-hint") }), ...drawn);
}

// ---- Switches ----

const SWITCHES = [["positions", false], ["scaling", false], ["lookAhead", false], ["paddingTokens", 8],
  ["paddingMask", false], ["cross", false], ["residual", false]]; // what a checked box sets

function showSwitches() {
  const question = (name) => [element("p", { className: "faint", textContent: say(`ask-${name}`) }),
    element("details", {}, element("summary", { textContent: say("expect") }), element("p", { textContent: say(`expect-${name}`) }))];
  const boxes = SWITCHES.map(([name, off]) => {
    const box = element("input", { type: "checkbox", id: `what-${name}`, checked: view.what[name] === off });
    box.addEventListener("change", () => {
      view.what[name] = box.checked ? off : AS_TRAINED[name];
      if (name === "paddingMask" && box.checked) view.what.paddingTokens = 8;
      if (name === "paddingTokens" && !box.checked) view.what.paddingMask = true;
      changeSwitches();
    });
    return element("div", { className: "switch" }, element("label", {}, box, say(`what-${name}`)), ...question(name));
  });
  const { num_layers, num_heads } = network.sizes, layers = Array.from({ length: num_layers }, (_, n) => n + 1);
  const heads = ["encoder", "decoder", "cross"].flatMap((kind) => layers.flatMap((layer) =>
    Array.from({ length: num_heads }, (_, head) => `${kind}.${layer}.${head + 1}`)));
  const menu = (name, field, values) => {
    const box = element("select", { id: `what-${name}` });
    options(box, [say("none"), ...values.map((value) => value.replaceAll(".", " "))], ["", ...values]);
    box.value = view.what[field][0] ?? "";
    box.addEventListener("change", () => { view.what[field] = box.value ? [box.value] : []; changeSwitches(); });
    return element("div", { className: "switch" }, element("label", {}, say(`what-${name}`), box), ...question(name));
  };
  at("switches").replaceChildren(...boxes, menu("head", "withoutHeads", heads),
    menu("layer", "withoutLayers", ["encoder", "decoder"].flatMap((stack) => layers.map((layer) => `${stack}.${layer}`))));
}

function changeSwitches() {
  for (const [name, off] of SWITCHES) at(`what-${name}`).checked = view.what[name] === off;
  view.forced = [];
  view.fromRun = false;
  translate();
}

// ---- Events ----

function setSource(text, target = []) {
  pause();
  Object.assign(view, { source: text, stepping: false, forced: target.slice(1), fromRun: target.length > 0 });
  translate();
}

function chooseExample() {
  const example = data.examples[at("sentence").value];
  if (!example) return;
  at("source").value = example.text;
  setSource(example.text, network.sizes.non_autoregressive ? [] : example.target);
}

function pause() {
  clearInterval(view.playing);
  view.playing = 0;
  at("play").textContent = say("play");
}

function stepTo(length) { // translates so many tokens
  view.stepping = true;
  ++job;
  former = null;
  translation = new Translation(network, sourceIds(), view.what, view.forced, sampling());
  while (translation.steps.length < length && translation.step());
  view.step = Math.max(0, translation.steps.length - 1);
  show();
}

function oneStep() { // -> whether there is something left to do
  if (network.sizes.non_autoregressive) return false;
  if (!view.stepping) stepTo(0);
  translation.step();
  view.step = Math.max(0, translation.steps.length - 1);
  show();
  if (translation.done) pause();
  return !translation.done;
}

function play() {
  if (view.playing) pause();
  else if (oneStep()) view.playing = setInterval(oneStep, 700);
  at("play").textContent = say(view.playing ? "pause" : "play");
}

function setLanguage(number) {
  language = number;
  document.documentElement.lang = ["en", "zh"][language];
  for (const one of document.querySelectorAll("[data-text]")) one.textContent = say(one.dataset.text);
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", say(one.dataset.label));
  const { num_layers, d_model, num_heads, target_vocab_size } = data.sizes;
  at("about").textContent = say("run", { run: `\u2068${data.run}\u2069`, layers: num_layers, width: d_model, heads: num_heads,
    parameters: data.parameters.toLocaleString("en"), entries: target_vocab_size.toLocaleString("en"), size: fileSize.toFixed(1) });
  options(at("sentence"), [...data.examples.map((one) => one.text), say("typed")], [...data.examples.keys(), ""]);
  const heads = Array.from({ length: num_heads }, (_, n) => n);
  options(at("layer"), Array.from({ length: num_layers }, (_, n) => `${n + 1}`));
  options(at("head"), [...heads.map((n) => `${n + 1}`), say("mean")], [...heads, MEAN]);
  options(at("hand-head"), heads.map((n) => `${n + 1}`));
  showArchitecture();
  showSwitches();
  showPositions();
  show();
}

const where = (button) => ({ side: button.closest("ol").id, number: Number(button.dataset.number) });

for (const id of ["queries", "keys"]) {
  const list = at(id), hold = (event) => {
    if (event.target.matches("button")) choose(view.held = where(event.target));
  };
  list.addEventListener("mouseover", (event) => {
    if (event.target.matches("button")) choose(where(event.target));
  });
  list.addEventListener("mouseleave", () => choose(view.held));
  list.addEventListener("focusin", hold);
  list.addEventListener("click", hold);
  list.addEventListener("keydown", (event) => {
    const { side, number } = where(event.target);
    const next = {
      ArrowDown: [side, number + 1], ArrowUp: [side, number - 1],
      ArrowLeft: ["queries", number], ArrowRight: ["keys", number],
    }[event.key];
    if (event.key === "Escape") { event.target.blur(); choose(view.held = null); }
    if (!next || (next[0] === side && next[1] === number)) return;
    event.preventDefault();
    const row = buttons(next[0]);
    row[Math.max(0, Math.min(next[1], row.length - 1))].focus();
  });
}
for (const id of ["kind", "layer", "head", "units"]) {
  at(id).addEventListener("change", () => {
    view.held = null;
    showAttention();
    showHand();
  });
}
for (const id of ["hand-numbers", "hand-head", "hand-query", "hand-key"]) at(id).addEventListener("change", showHand);
for (const id of ["position", "dimension"]) at(id).addEventListener("input", showPositions);
for (const id of ["temperature", "top-k", "top-p"]) {
  at(id).addEventListener("input", () => { view.fromRun = false; view.forced = []; view.stepping = false; translate(); });
}
at("draw").addEventListener("click", () => { view.fromRun = false; view.forced = []; view.stepping = false; translate(); });
at("source").addEventListener("input", () => { at("sentence").value = ""; setSource(at("source").value); });
at("sentence").addEventListener("change", chooseExample);
at("step").addEventListener("click", oneStep);
at("play").addEventListener("click", play);
at("restart").addEventListener("click", () => { pause(); stepTo(0); });
at("all").addEventListener("click", () => { pause(); view.stepping = false; translate(); });
at("language").addEventListener("click", () => setLanguage(1 - language));
at("reset").addEventListener("click", () => {
  view.what = { ...AS_TRAINED, withoutHeads: [], withoutLayers: [] };
  showSwitches();
  changeSwitches();
});
addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.code === "KeyS") oneStep();
  else if (event.code === "KeyP") play();
  else return;
  event.preventDefault();
});
addEventListener("resize", () => choose(view.held));

setLanguage(language);
at("layer").selectedIndex = at("layer").length - 1; // as in the tutorial
at("head").value = MEAN;
at("sentence").selectedIndex = 0;
if (data.examples.length) chooseExample();
else setSource("");
