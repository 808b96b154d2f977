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
  source: "", forced: [], step: 0, what: asTrained(),
  held: null, block: { stack: 1, number: 0, layer: 1, position: 0 }, playing: 0, stepping: false, fromRun: false, milliseconds: 0,
};
let translation = new Translation(network, [START, END]).finish(); // with the switches
let former = null; // what `compare` returns, while something is switched off

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

// ---- Work in slices: typing and scrolling never wait for the network or for drawing ----

const SLICE = 16; // milliseconds
let job = 0; // number of the latest translation
let drawing = 0; // number of the latest drawing

// Runs a generator with pauses, as long as `isWanted` returns true. -> a promise
async function inSlices(steps, isWanted) {
  let begin = performance.now();
  while (!steps.next().done) {
    if (performance.now() - begin < SLICE) continue;
    await new Promise((resume) => setTimeout(resume));
    if (!isWanted()) return;
    begin = performance.now();
  }
}

function* translating(current) {
  const begin = performance.now(), ids = sourceIds();
  const next = new Translation(network, ids, view.what, view.forced, sampling());
  yield* (view.stepping ? next.prepare() : next.translate());
  translation = next;
  view.step = Math.max(0, Math.min(view.focusStep ?? Infinity, next.steps.length - 1));
  view.focusStep = undefined;
  view.held = null;
  former = null;
  view.milliseconds = performance.now() - begin;
  show();
  former = yield* compare(ids);
  if (current === job && former) showChanged();
}

function translate() { // a later one ends those before it
  const current = ++job;
  return inSlices(translating(current), () => current === job);
}

// ---- Showing ----

function* drawn() {
  for (const draw of [showTranslation, showAttention, showHand, showChanged, showBlock]) {
    draw();
    yield;
  }
  yield* showInside();
}

function show() {
  const current = ++drawing;
  return inSlices(drawn(), () => current === drawing);
}

function chip(id, chosen) {
  return [label(id), element("small", { textContent: id })];
}

function showTranslation() {
  at("source-tokens").replaceChildren(...translation.encoded.ids.map((id) =>
    element("span", { dir: "auto" }, ...chip(id))));
  at("translation").textContent = tokenizer.decode(translation.target);
  const notes = [say("milliseconds", { ms: view.milliseconds.toFixed(0), tokens: translation.steps.length })];
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
      if (view.stepping) stepTo(view.forced.length);
      else translate();
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

function chooseStrongestKey() { // of the chosen query: a weight of 0 teaches little
  if (at("hand-numbers").value !== "run" || !handInputs()) return;
  const heads = translation.attention(at("kind").value, Number(at("layer").value) + 1);
  const weights = heads[at("hand-head").value][at("hand-query").value];
  at("hand-key").value = highest(weights);
  showHand();
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
  view.focusStep = undefined;
  ++job;
  former = null;
  translation = new Translation(network, sourceIds(), view.what, view.forced, sampling());
  complete(translation.prepare());
  while (translation.steps.length < length && !translation.done) complete(translation.step());
  showStep();
}

function showStep() { // the last one
  view.step = Math.max(0, translation.steps.length - 1);
  show();
}

function oneStep() { // -> whether there is something left to do
  if (translation.parallel) return false;
  if (!view.stepping) stepTo(0);
  complete(translation.step());
  showStep();
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
  showMap();
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
for (const id of ["hand-head", "hand-query", "hand-key"]) at(id).addEventListener("change", showHand);
at("hand-numbers").addEventListener("change", () => {
  showHand();
  chooseStrongestKey();
});
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
  view.what = asTrained();
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
addEventListener("resize", () => { choose(view.held); drawPaths(); });

setLanguage(language);
view.block.number = crossAttention();
at("layer").selectedIndex = at("layer").length - 1; // as in the tutorial
at("head").value = MEAN;
at("sentence").selectedIndex = 0;
if (data.examples.length) chooseExample();
else setSource("");
