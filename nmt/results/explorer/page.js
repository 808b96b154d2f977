// Connects what is computed with what is seen.

const data = read("data");
const MEAN = "mean", MAX_TOKENS = 200;
const tokenizer = new Tokenizer(data.vocabulary);
const sentences = data.sentences && new Sentences(data.sentences); // as `translate` divides a text

const learnedWords = new LearnedWords(tokenizer, data.words);
let wanted = ""; // the case of the translation

const view = { // what the reader has chosen
  source: "", forced: [], step: 0, what: asTrained(), held: null,
  block: { stack: 1, number: crossAttention(), layer: layersOf("cross"), position: 0 },
  stepping: false, wanted: 0, playing: 0, // whether tokens are generated one by one, and how many so far
  fromRun: false, milliseconds: 0, hasNumbers: false, isMoving: false,
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

function percent(probability) {
  if (probability > 0 && probability < 1e-5) return "<0.001%";
  return `${(100 * probability).toFixed(probability < 0.001 ? 3 : 1)}%`;
}

// ---- Translating ----

function sampling() {
  const number = (id, least, most, empty) => Math.min(most, Math.max(least, Number(at(id).value) || empty));
  return { temperature: number("temperature", 0, 100, 0), topK: number("top-k", 0, 1e9, 0),
    topP: number("top-p", 0.001, 1, 1), random: Math.random };
}

const isSampled = () => sampling().temperature > 0;

const isText = () => // whether the source has several sentences
  sentences && view.source.split("\n").flatMap((line) => sentences.split(line)).filter(({ text }) => text).length > 1;

function readSource() { // -> ids
  const reading = learnedWords.read(tokenizer.trimmed(view.source)), ids = tokenizer.encode(reading.text);
  wanted = reading.wanted;
  const tooLong = ids.length > MAX_TOKENS;
  const notes = [isText() && say("several-sentences"), tooLong && say("too-long", { number: MAX_TOKENS })];
  at("warning").textContent = notes.filter(Boolean).join(" ");
  return tooLong ? ids.slice(0, MAX_TOKENS) : ids;
}

const textOf = (words) => learnedWords.write(tokenizer.decode(words), wanted);

let job = 0; // number of the latest translation
let isWorking = false; // whether it is unfinished

function leastCertain({ steps, target }) { // the step whose token has the lowest probability
  const doubts = steps.map(({ probabilities }, n) => -probabilities[target[n + 1]]);
  return doubts.length ? highest(doubts) : 0;
}

function* translating() {
  const begin = performance.now(), ids = readSource();
  const next = new Translation(network, ids, view.what, view.forced, sampling());
  at("timing").textContent = say("computing-source", { number: ids.length });
  yield* next.prepare();
  while (!next.done && !(view.stepping && next.steps.length >= view.wanted)) {
    at("timing").textContent = say("computing-tokens", { number: next.steps.length });
    yield* next.step();
  }
  translation = next;
  const preferred = view.focusStep ?? (view.stepping ? Infinity : leastCertain(next));
  view.step = Math.max(0, Math.min(preferred, next.steps.length - 1));
  view.focusStep = undefined;
  view.held = null;
  former = null;
  restartTrees();
  view.milliseconds = performance.now() - begin;
  if (view.stepping && next.done) pause();
  show();
  former = yield* compare(ids);
  if (former) show(["changed"]);
  isWorking = false; // only the latest one comes here
  showWorking();
}

async function translate() { // a later one ends those before it
  const current = ++job;
  isWorking = true;
  showWorking();
  await new Promise((resume) => setTimeout(resume)); // so that "computing" is painted first
  if (current === job) await inSlices(translating(), () => current === job);
}

function showWorking() { // says so while something is computed or drawn
  const isBusy = isWorking || waiting.size > 0;
  at("working").textContent = isBusy ? say("computing") : "";
  at("translation").classList.toggle("stale", isWorking);
}

// ---- Showing ----

const OF_TRANSLATION = ["translation", "step", "attention", "hand", "changed", "block", "inside"];
const waiting = new Set(); // names of the parts that are to be drawn
let drawing = 0; // number of the latest call of `show`

function* drawWaiting() {
  const parts = { // in the order in which they are drawn
    translation: showTranslation, step: showStep, attention: showAttention, flow: showFlow, hand: showHand, changed: showChanged,
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

async function show(names = OF_TRANSLATION) { // continues with what an earlier call has not drawn yet
  for (const name of names) waiting.add(name);
  const current = ++drawing;
  await inSlices(drawWaiting(), () => current === drawing);
  if (current !== drawing) return;
  showWorking();
  showExercises();
  refreshTour();
}

function chip(id) {
  return [label(id), " ", element("small", { textContent: id })];
}

function isDoubtful() { // whether the run expects little of its own translation
  const isOwn = translation.done && !isSwitched() && !isSampled() && (view.fromRun || !view.forced.length);
  return data.estimator && isOwn && confidence(data.estimator, translation) < data.doubtful;
}

function* showTranslation() {
  at("translation").textContent = textOf(translation.words());
  const notes = [say("milliseconds", { ms: view.milliseconds.toFixed(0), tokens: translation.steps.length })];
  at("doubt").textContent = isSwitched() ? say("switched") : isDoubtful() ? say("doubtful") : "";
  at("translation").classList.toggle("doubtful", isDoubtful());
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
  at("play").textContent = say(view.playing ? "pause" : "play");
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
  setSource(example.text, example.target);
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
  document.title = say("title");
  showLearning();
  if (trees.length) showTrees();
  showExercises();
  if (!network) return;
  readSource(); // its notes
  show([...(translation ? OF_TRANSLATION : []), "map", "switches", "positions"]);
}

for (const id of ["kind", "layer", "head", "units"]) {
  at(id).addEventListener("change", () => {
    view.held = null;
    showLayers();
    show(["attention", "hand"]);
  });
}
for (const id of ["hand-head", "hand-query", "hand-key"]) at(id).addEventListener("change", () => { showHand(); showExercises(); });
at("hand-numbers").addEventListener("change", () => {
  showHand();
  chooseStrongestKey();
});
for (const id of ["position", "dimension"]) at(id).addEventListener("input", showPositions);
for (const id of ["position", "dimension", "width"]) at(id).addEventListener("change", () => { at(id).value = fieldNumber(id); });
at("alpha").addEventListener("change", () => { at("alpha").value = fieldNumber("alpha", Number); });
for (const id of ["temperature", "top-k", "top-p"]) {
  at(id).addEventListener("input", () => { view.fromRun = false; view.forced = []; view.stepping = false; translate(); });
}
at("draw").addEventListener("click", () => { view.fromRun = false; view.forced = []; view.stepping = false; translate(); });
at("source").addEventListener("input", () => { at("sentence").value = ""; setSource(at("source").value); });
at("sentence").addEventListener("change", chooseExample);
at("step").addEventListener("click", walk);
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
  if (event.code === "KeyS") walk();
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
  show(["map", "switches", "positions"]);
  network = new Network(data.sizes, await inSlices(readTensors(data.tensors, weights)));
  if (!readAddress() && data.examples.length) chooseExample();
  else if (!view.source) setSource("");
  document.querySelector("main").inert = false;
}

open();
