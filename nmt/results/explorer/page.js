// Connects what is computed with what is seen.

const data = read("data");
const MEAN = "mean", MAX_TOKENS = 200;
const tokenizer = new Tokenizer(data.vocabulary), protector = new Protector(data.protection);

const view = { // what the reader has chosen
  source: "", forced: [], step: 0, what: asTrained(), held: null,
  block: { stack: 1, number: crossAttention(), layer: layersOf("cross"), position: 0 },
  stepping: false, wanted: 0, playing: 0, // whether tokens are generated one by one, and how many so far
  fromRun: false, milliseconds: 0,
};
let fileSize = 0; // in millions of characters, nearly all of them one byte
let network = null; // until the weights are read
let translation = null; // with the switches
let former = null; // what `compare` returns, while something is switched off

function options(select, labels, values) {
  const before = select.value;
  select.replaceChildren(...labels.map((label, n) => new Option(label, values ? values[n] : n)));
  if ([...select.options].some((option) => option.value === before)) select.value = before;
}

const label = (id) => tokenLabel(tokenizer.piece(id));
const percent = (probability) => `${(100 * probability).toFixed(probability < 0.001 ? 4 : 1)}%`;

// ---- Translating ----

function sampling() {
  const number = (id, least, most, empty) => Math.min(most, Math.max(least, Number(at(id).value) || empty));
  return { temperature: number("temperature", 0, 100, 0), topK: number("top-k", 0, 1e9, 0),
    topP: number("top-p", 0.001, 1, 1), random: Math.random };
}

const isSampled = () => sampling().temperature > 0;

function readSource() { // -> {ids, given (of `protect`)}
  const given = protector.protect(view.source), ids = tokenizer.encode(given.text);
  const tooLong = ids.length > MAX_TOKENS;
  at("warning").textContent = tooLong ? say("too-long", { number: MAX_TOKENS }) : "";
  return { given, ids: tooLong ? ids.slice(0, MAX_TOKENS) : ids };
}

const textOf = (words) => protector.restore(tokenizer.decode(words), translation.given);

let job = 0; // number of the latest translation
let isWorking = false; // whether it is unfinished

function leastCertain({ steps, target }) { // the step whose token has the lowest probability
  const doubts = steps.map(({ probabilities }, n) => -probabilities[target[n + 1]]);
  return doubts.length ? highest(doubts) : 0;
}

function* translating() {
  const begin = performance.now(), { ids, given } = readSource();
  const next = new Translation(network, ids, view.what, view.forced, sampling());
  next.given = given;
  yield* next.prepare();
  while (!next.done && !(view.stepping && next.steps.length >= view.wanted)) yield* next.step();
  translation = next;
  const preferred = view.focusStep ?? (view.stepping ? Infinity : leastCertain(next));
  view.step = Math.max(0, Math.min(preferred, next.steps.length - 1));
  view.focusStep = undefined;
  view.held = null;
  former = null;
  view.milliseconds = performance.now() - begin;
  if (view.stepping && next.done) pause();
  show();
  former = yield* compare(ids);
  if (former) show(["changed"]);
  isWorking = false; // only the latest one comes here
}

function translate() { // a later one ends those before it
  const current = ++job;
  isWorking = true;
  return inSlices(translating(), () => current === job);
}

// ---- Showing ----

const OF_TRANSLATION = ["translation", "step", "attention", "hand", "changed", "block", "inside"];
const waiting = new Set(); // names of the parts that are to be drawn
let drawing = 0; // number of the latest call of `show`

function* drawWaiting() {
  const parts = { // in the order in which they are drawn
    translation: showTranslation, step: showStep, attention: showAttention, hand: showHand, changed: showChanged,
    map: showMap, block: showBlock, inside: showInside, switches: showSwitches, positions: showPositions,
  };
  for (const [name, draw] of Object.entries(parts)) {
    if (!waiting.has(name)) continue;
    const steps = draw();
    if (steps) yield* steps;
    waiting.delete(name);
    yield;
  }
}

function show(names = OF_TRANSLATION) { // continues with what an earlier call has not drawn yet
  for (const name of names) waiting.add(name);
  const current = ++drawing;
  return inSlices(drawWaiting(), () => current === drawing);
}

function chip(id) {
  return [label(id), " ", element("small", { textContent: id })];
}

function* showTranslation() {
  at("translation").textContent = textOf(translation.words());
  const list = translation.given.originals.map((original, n) => `⟦${n % SYMBOLS}⟧ = \u2068${original}\u2069`);
  at("protected").textContent = list.length ? say("protected", { list: list.join(", ") }) : "";
  const notes = [say("milliseconds", { ms: view.milliseconds.toFixed(0), tokens: translation.steps.length })];
  if (view.fromRun) notes.push(say("as-run"));
  else if (view.forced.length) notes.push(say("forced", { number: view.forced.length }));
  at("timing").textContent = notes.join(" · ");
  at("source-tokens").replaceChildren(...translation.encoded.ids.map((id) =>
    element("span", { dir: "auto" }, ...chip(id))));
  yield;
  const hadFocus = at("target-tokens").contains(document.activeElement);
  at("target-tokens").replaceChildren(...translation.target.slice(1).map((id, n) => {
    const button = element("button", { type: "button", dir: "auto" }, ...chip(id));
    button.addEventListener("click", () => chooseStep(n));
    return button;
  }));
  if (hadFocus) at("target-tokens").children[view.step]?.focus();
  const parallel = network.sizes.non_autoregressive;
  at("sampling").hidden = parallel;
  for (const id of ["play", "step", "restart"]) at(id).disabled = parallel;
  at("play").textContent = say(view.playing ? "pause" : "play");
}

function chooseStep(step) {
  view.step = step;
  show(["step", "inside", "block"]);
}

function showStep() { // the chosen one, and what else was likely there
  [...at("target-tokens").children].forEach((button, n) => {
    button.setAttribute("aria-pressed", n === view.step);
    button.classList.toggle("chosen", n === view.step);
  });
  const step = translation.steps[view.step], hadFocus = at("candidates").contains(document.activeElement);
  at("candidates-title").textContent = step ? say("candidates", { step: view.step + 1 }) : "";
  const tokens = step ? likeliest(step.probabilities, 10) : [];
  at("candidates").replaceChildren(...tokens.map((token) => element("li", {}, candidateButton(token))));
  if (hadFocus) at("candidates").querySelector(".chosen")?.focus();
}

function candidateButton({ id, probability }) {
  const bar = element("i"), isChosen = id === translation.target[view.step + 1];
  bar.style.width = `${100 * probability}%`;
  const button = element("button", { type: "button" }, bar,
    element("span", { textContent: label(id), dir: "auto" }), " ", element("span", { textContent: percent(probability) }));
  button.dataset.id = id;
  button.setAttribute("aria-pressed", isChosen);
  button.classList.toggle("chosen", isChosen);
  button.disabled = network.sizes.non_autoregressive || id === PAD || id === START;
  button.addEventListener("click", () => {
    view.forced = [...translation.target.slice(1, view.step + 1), id];
    view.fromRun = false;
    view.focusStep = view.step;
    view.wanted = view.forced.length;
    translate();
  });
  return button;
}

function* attentionSides() { // queries and keys (units), weights [query][key]
  const kind = at("kind").value, names = (ids) => ids.map((id) => tokenizer.piece(id));
  const heads = translation.attention(kind, Number(at("layer").value) + 1), head = at("head").value;
  const traces = heads[0].length;
  const queries = unitsOf(names(translation.queries(kind)).slice(0, traces), at("units").value);
  const keys = unitsOf(names(translation.keys(kind)), at("units").value);
  const chosen = head === MEAN ? heads : [heads[head]];
  const weights = yield* perRow(queries, (query) => unitWeights(chosen, [query], keys)[0]);
  return { queries: queries.map((one) => one.label), keys: keys.map((one) => one.label), weights };
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

function* showAttention() {
  const kind = at("kind").value;
  sides = yield* attentionSides();
  at("note").textContent = at("units").value === "tokens" ? say("continues") : "";
  const title = { cross: "queries-generated", encoder: "queries-source", decoder: "queries-input" }[kind];
  unitButtons(at("queries"), sides.queries, say(title));
  unitButtons(at("keys"), sides.keys, say(kind === "decoder" ? "keys-input" : "keys-source"));
  yield;
  choose(view.held);
}

function choose(chosen) { // {side, number} of a token of the attention view, or null
  drawLines(at("view"), sides.weights, chosen);
  for (const side of ["queries", "keys"]) {
    buttons(side).forEach((button, n) => {
      button.classList.toggle("chosen", !!chosen && chosen.side === side && chosen.number === n);
      const weight = !chosen || chosen.side === side ? 0
        : side === "keys" ? sides.weights[chosen.number][n] : sides.weights[n][chosen.number];
      button.style.background = weight ? `rgba(var(--mark), ${0.45 * weight})` : "";
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
    const { keys, values, q } = TUTORIAL, numbered = (name) => [1, 2].map((number) => `${say(name)} ${number}`);
    return { queries: numbered("hand-query"), labels: numbered("hand-key"), all: q, keys, values,
      masked: () => [false, false], scaling: true, where: () => "" };
  }
  const kind = at("kind").value, layer = Number(at("layer").value);
  const traces = translation.traces(kind, layer + 1), trace = (kind === "encoder" ? translation.encoded : translation.state).layers[layer];
  if (!traces.length || !traces[0].q) return null;
  const from = Number(at("hand-head").value) * network.depth, cut = (row) => row.slice(from, from + network.depth);
  const { keys, values } = kind === "cross" ? trace.source : trace, labels = translation.keys(kind).map(label);
  return { queries: translation.queries(kind).slice(0, traces.length).map(label), labels,
    all: traces.map((one) => cut(one.q)), keys: keys.slice(0, labels.length).map(cut),
    values: values.slice(0, labels.length).map(cut),
    masked: (query) => labels.map((_, k) => traces[query].masked[k] ?? true), scaling: view.what.scaling,
    where: (names) => say("hand-where", { ...names, head: Number(at("hand-head").value) + 1 }) };
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
  const where = given.where({ query: `\u2068${given.queries[query]}\u2069`, key: `\u2068${given.labels[key]}\u2069` });
  drawByHand(at("hand"), { ...given, q: given.all[query], masked: given.masked(query), where }, key, say);
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

function startSteps(number) { // generates so many tokens from the start
  Object.assign(view, { stepping: true, wanted: number, focusStep: undefined });
  translate();
}

function oneStep() { // -> whether the run generates its tokens one by one
  if (network.sizes.non_autoregressive) return false;
  if (!view.stepping) startSteps(1);
  else if (isWorking) view.wanted += 1;
  else {
    complete(translation.step());
    view.wanted = translation.steps.length;
    view.step = Math.max(0, view.wanted - 1);
    if (translation.done) pause();
    show();
  }
  return true;
}

function play() {
  if (view.playing) pause();
  else if (oneStep()) view.playing = setInterval(oneStep, 700);
  at("play").textContent = say(view.playing ? "pause" : "play");
}

function showLayers() { // those that have the chosen kind of attention
  options(at("layer"), Array.from({ length: layersOf(at("kind").value) }, (_, n) => `${n + 1}`));
}

function setLanguage(number) {
  speak(number);
  const { d_model, num_heads, target_vocab_size } = data.sizes;
  at("about").textContent = say("run", { run: `\u2068${data.run}\u2069`, encoder: layersOf("encoder"),
    decoder: layersOf("decoder"), width: d_model, heads: num_heads,
    parameters: data.parameters.toLocaleString("en"), entries: target_vocab_size.toLocaleString("en"), size: fileSize.toFixed(1) });
  options(at("sentence"), [...data.examples.map((one) => one.text), say("typed")], [...data.examples.keys(), ""]);
  const heads = Array.from({ length: num_heads }, (_, n) => n);
  showLayers();
  options(at("head"), [...heads.map((n) => `${n + 1}`), say("mean")], [...heads, MEAN]);
  options(at("hand-head"), heads.map((n) => `${n + 1}`));
  if (network) show([...OF_TRANSLATION, "map", "switches", "positions"]);
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
    showLayers();
    show(["attention", "hand"]);
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
at("restart").addEventListener("click", () => { pause(); startSteps(0); });
at("all").addEventListener("click", () => { pause(); view.stepping = false; translate(); });
at("language").addEventListener("click", () => setLanguage(1 - language));
at("reset").addEventListener("click", () => {
  view.what = asTrained();
  showSwitches();
  changeSwitches();
});
addEventListener("keydown", (event) => {
  if (!network || !event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.code === "KeyS") oneStep();
  else if (event.code === "KeyP") play();
  else return;
  event.preventDefault();
});
new ResizeObserver(() => sides && choose(view.held)).observe(at("view"));

async function open() {
  const weights = at("weights").textContent;
  at("weights").remove(); // it takes as much memory as the numbers
  fileSize = (weights.length + document.documentElement.textContent.length) / 1e6;
  setLanguage(language);
  at("layer").selectedIndex = at("layer").length - 1; // as in the tutorial
  at("head").value = MEAN;
  at("sentence").selectedIndex = 0;
  at("timing").textContent = say("reading");
  network = new Network(data.sizes, await inSlices(readTensors(data.tensors, weights)), data.symbols);
  for (const name of ["map", "switches", "positions"]) waiting.add(name);
  if (data.examples.length) chooseExample();
  else setSource("");
  document.querySelector("main").inert = false;
}

open();
