// A guided tour: one word of the reader's own sentence, followed through the network, step by step.
//
// A step is {name (of its texts), target: -> the elements that are lit, prepare: what it chooses on the
// page -> names of the parts to draw, numbers: -> what its text is filled with, needsNoWord: whether it
// can be shown while the translation is unfinished}.

const MAX_QUOTED = 90; // characters of a sentence that the card repeats
const quote = (text) => `“\u2068${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}\u2069”`;
const blockOf = (stack, kind, isKey = () => true) => // the number of the first such block
  data.blocks[stack].findIndex((block) => block.kind === kind && isKey(block));
const blockElement = (stack, number) => at("architecture").querySelector(`[data-stack="${stack}"][data-number="${number}"]`);

const ELIGIBLE = { // units (of `unitsOf`) that a tour can follow, the best kind first
  wholeWord: ({ tokens, closed }) => !closed && tokens.length === 1, word: ({ closed }) => !closed, any: () => true,
};

// The pair that the tour follows: a generated token and a source token to which the heads of the last
// cross-attention attend there, and which itself attends to another word in the encoder; rather late in
// the translation, where the mask leaves something to see.
// -> {step, source (positions), head (the strongest), weight, other (of `strongestOther`)}, or null
function tourWord() {
  const heads = translation?.state ? translation.attention("cross", layersOf("cross")) : [];
  const sourceIds = heads.length ? translation.encoded.ids : [], targetIds = translation?.target.slice(1) ?? [];
  const pieces = (ids) => ids.map((id) => tokenizer.piece(id));
  const eligible = (ids, kind) => unitsOf(pieces(ids), "words").filter(ELIGIBLE[kind]).flatMap(({ tokens }) => tokens);
  const others = sourceIds.map((_, source) => strongestOther(translation.encoded.layers, source, sourceIds));
  for (const kind of Object.keys(ELIGIBLE)) {
    let best = null;
    for (const step of eligible(targetIds, kind)) {
      for (const source of eligible(sourceIds, kind)) {
        const weights = heads.map((rows) => rows[step]?.[source] ?? 0), head = highest(weights), other = others[source];
        const score = total(weights) * other.weight * (step + 1);
        if (score > (best?.score ?? 0)) best = { step, source, head, weight: weights[head], other, score };
      }
    }
    if (best) return best;
  }
  return null;
}

// The layer and the head in which a position of self-attention attends most to another word; to any
// token if there is no other word. layers: [{self: [trace]}] -> {layer, head (from 1, 0), key, weight}
function strongestOther(layers, position, ids) {
  const isWord = (key) => key !== position && !standsApart(tokenizer.piece(ids[key]));
  let best = { weight: 0 };
  for (const isWanted of [isWord, () => true]) {
    layers.forEach((traces, n) => traces.self[position].weights.forEach((row, head) => row.forEach((weight, key) => {
      if (isWanted(key) && weight > best.weight) best = { layer: n + 1, head, key, weight };
    })));
    if (best.weight) break;
  }
  return best;
}

const chooseBlock = (stack, number, layer = 1) => () => {
  view.block = { stack, number, layer, position: tour.word?.source ?? 0 };
  return ["block"];
};

const chooseAttention = (kind, layer, head, token) => () => {
  at("kind").value = kind;
  showLayers();
  Object.assign(at("layer"), { value: layer() - 1 });
  at("head").value = head();
  at("units").value = "tokens";
  view.held = { side: "queries", number: token() };
  return ["attention", "hand"];
};

const sourceLabel = () => quote(label(translation.encoded.ids[tour.word.source]));
const targetLabel = () => quote(label(translation.target[tour.word.step + 1]));
const encoderTrace = (part, layer = tour.word.other.layer) => translation.encoded.layers[layer - 1][part][tour.word.source];
const otherNumbers = () => { // of the encoder's self-attention
  const { layer, head, key, weight } = tour.word.other;
  return { word: sourceLabel(), key: quote(label(translation.encoded.ids[key])), layer, head: head + 1, weight: weight.toFixed(2) };
};
const inEncoder = chooseAttention("encoder", () => tour.word.other.layer, () => tour.word.other.head, () => tour.word.source);
const encoderBlock = (kind, layer = () => tour.word.other.layer) => () => chooseBlock(0, blockOf(0, kind), layer())();

function chooseHand() { // the weight of `otherNumbers`
  const parts = inEncoder(), { head, key } = tour.word.other;
  at("hand-numbers").value = "run";
  at("hand-head").value = head;
  showHand();
  at("hand-query").value = tour.word.source;
  at("hand-key").value = key;
  return parts;
}

function handNumbers() {
  const { layer, head, key } = tour.word.other, { depth } = network;
  const cut = (row) => row.slice(head * depth, (head + 1) * depth);
  const sum = dot(cut(encoderTrace("self").q), cut(translation.encoded.layers[layer - 1].keys[key]), depth);
  return { ...otherNumbers(), sum: decimals(sum), depth, scaled: decimals(sum / Math.sqrt(depth)) };
}

function handElements() { // from the sum of the products to the weight
  const parts = [...at("hand").children];
  return parts.slice(2, parts.indexOf(at("hand-weight")) + 1);
}

const firing = (layer) => encoderTrace("ffn", layer).hidden.filter((value) => value > 0).length;
const busiestLayer = () => 1 + highest(translation.encoded.layers.map((_, n) => firing(n + 1))); // where most units fire

function enteringStream() { // the vector that enters the layer of `otherNumbers`
  const before = translation.encoded.layers[tour.word.other.layer - 2];
  return before ? before.ffn[tour.word.source].stream : translation.encoded.embedded[tour.word.source];
}

const decoderOther = () => strongestOther(translation.state.layers, tour.word.step, translation.state.ids);

function maskedNumbers() {
  const { step } = tour.word, { layer, head, key, weight } = decoderOther();
  const list = translation.target.slice(0, step + 1).slice(-LATEST).map((id) => quote(label(id))).join(" ");
  return { step: step + 1, list, layer, head: head + 1, key: quote(label(translation.target[key])), weight: weight.toFixed(2) };
}

function lensNumbers() { // what the network would predict at the start and at the end
  const points = streamAt(tour.word.step), predictions = [points[0], points.at(-1)].map(({ stream }) => {
    const [best] = likeliest(softmax(network.logits(network.finish("decoder", [stream])[0])), 1);
    return [quote(label(best.id)), percent(best.probability)];
  });
  return { first: predictions[0][0], before: predictions[0][1], last: predictions[1][0], after: predictions[1][1] };
}

function softmaxNumbers() {
  const [first, second] = likeliest(translation.steps[tour.word.step].probabilities, 2);
  return { entries: data.sizes.target_vocab_size.toLocaleString("en"), first: quote(label(first.id)), before: percent(first.probability),
    second: quote(label(second.id)), after: percent(second.probability) };
}

function parametersOutsideGpt() { // those of the encoder's layers and of cross-attention, with its normalization
  const size = ({ shape: sizes }) => sizes.reduce((a, b) => a * b, 1);
  const outside = data.tensors.filter(({ name }) => /^encoder\.(\d|norm)|^decoder\.\d+\.(cross|norm2)\./.test(name));
  return total(outside.map(size));
}

const decimals = (value) => value.toFixed(2).replace("-", "−");
const beginning = (vector) => [...vector.slice(0, 3)].map(decimals).join(", ");

const TOUR = [
  { name: "welcome", target: () => [at("source"), at("translation")], prepare: () => ["step"],
    numbers: () => ({ source: quote(view.source.trim()), translation: quote(textOf(translation.words())),
      steps: translation.steps.length, word: sourceLabel(), target: targetLabel() }) },
  { name: "tokens", target: () => [at("source-tokens")],
    numbers: () => ({ number: translation.encoded.ids.length, word: sourceLabel(), id: translation.encoded.ids[tour.word.source] }) },
  { name: "embedding", target: () => [blockElement(0, 0)], prepare: chooseBlock(0, 0),
    numbers: () => ({ entries: data.sizes.input_vocab_size.toLocaleString("en"), width: data.sizes.d_model, word: sourceLabel(),
      list: beginning(network.embed("encoder", [translation.encoded.ids[tour.word.source]], { positions: false })[0]) }) },
  { name: "positions", target: () => [blockElement(0, 1)], prepare: chooseBlock(0, 1),
    numbers: () => ({ word: sourceLabel(), position: tour.word.source,
      list: beginning(positionalEncoding(tour.word.source, data.sizes.d_model)) }) },
  { name: "self", target: () => [blockElement(0, blockOf(0, "attention"))], prepare: encoderBlock("attention"), numbers: otherNumbers },
  { name: "heads", target: () => [at("flow")], prepare: inEncoder,
    numbers: () => { const shares = headShares("encoder", tour.word.other.layer, [tour.word.source]), head = namedHead(shares);
      return { heads: shares.length, word: sourceLabel(), head: head + 1, share: percent(shares[head]) }; } },
  { name: "hand", target: handElements, prepare: chooseHand, numbers: handNumbers },
  { name: "norm", target: () => [blockElement(0, blockOf(0, "norm"))], prepare: encoderBlock("norm"),
    numbers: () => { const { mean, deviation } = normalized(encoderTrace("self"), enteringStream());
      return { word: sourceLabel(), mean: figure(mean), deviation: deviation.toFixed(2) }; } },
  { name: "ffn", target: () => [blockElement(0, blockOf(0, "ffn"))], prepare: encoderBlock("ffn", busiestLayer),
    numbers: () => { const layer = busiestLayer(), dff = encoderTrace("ffn", layer).hidden.length;
      return { width: data.sizes.d_model, dff, word: sourceLabel(), layer, active: firing(layer) }; } },
  { name: "encoded", target: () => [at("architecture").querySelector(".stack")],
    numbers: () => ({ layers: layersOf("encoder"), number: translation.encoded.ids.length, width: data.sizes.d_model }) },
  { name: "masked", target: () => [blockElement(1, blockOf(1, "attention"))], prepare: () => chooseBlock(1, blockOf(1, "attention"), decoderOther().layer)(),
    numbers: maskedNumbers },
  { name: "crossing", target: () => [at("view")],
    prepare: chooseAttention("cross", () => layersOf("cross"), () => tour.word.head, () => tour.word.step),
    numbers: () => ({ word: sourceLabel(), target: targetLabel(), head: tour.word.head + 1, layer: layersOf("cross"),
      weight: tour.word.weight.toFixed(2) }) },
  { name: "lens", target: () => [at("stream")], numbers: lensNumbers },
  { name: "softmax", target: () => [blockElement(1, data.blocks[1].length - 1)],
    prepare: () => chooseBlock(1, data.blocks[1].length - 1)(), numbers: softmaxNumbers },
  { name: "decode", target: () => [at("controls"), at("target-tokens")], needsNoWord: true, numbers: () => ({ steps: translation.steps.length }) },
  { name: "gpt", target: () => [at("architecture").querySelector(".stack:last-of-type")], needsNoWord: true,
    numbers: () => ({ number: translation.encoded.ids.length + translation.steps.length,
      parameters: parametersOutsideGpt().toLocaleString("en"), share: percent(parametersOutsideGpt() / data.parameters) }) },
];

const tour = { step: -1, word: null, translation: null }; // step: -1 while it is closed; whose word it follows

const canTour = () => network && translation?.steps.length > 1;
const followedWord = () => (isSwitched() ? null : tourWord());
const isReady = () => tour.step >= 0 && (tour.word || TOUR[tour.step].needsNoWord);
const litElements = () => (isReady() ? TOUR[tour.step].target() : []);

async function goTo(step) { // a step of the tour, or its end
  if (step < 0) return;
  if (step >= TOUR.length) { // leads on
    endTour();
    openSection(at("exercises"));
    at("exercises").scrollIntoView({ behavior: STILL.matches ? "auto" : "smooth" });
    return;
  }
  const isNew = step !== tour.step;
  Object.assign(tour, { step, translation, word: followedWord() });
  if (tour.word && !view.stepping) view.step = tour.word.step;
  const parts = tour.word ? TOUR[step].prepare?.() ?? [] : [];
  for (const place of litElements()) openSection(place);
  await show(["step", "inside", "changed", ...parts]); // then `refreshTour`
  if (isNew && tour.step === step) scrollToSpot();
}

function refreshTour() { // after each drawing
  at("start-tour").disabled = !canTour();
  if (tour.step < 0 || isWorking) return;
  if (tour.translation !== translation || (!tour.word && followedWord())) { goTo(tour.step); return; }
  const { name, numbers } = TOUR[tour.step];
  at("tour-title").textContent = `${tour.step + 1} / ${TOUR.length} · ${say(`tour-title-${name}`)}`;
  const norms = name === "norm" && data.sizes.pre_norm ? "tour-pre-norm" : `tour-${name}`;
  at("tour-text").textContent = isReady() ? say(norms, numbers()) : say("tour-waits");
  at("tour-back").disabled = tour.step === 0;
  at("tour-next").textContent = say(tour.step === TOUR.length - 1 ? "tour-end" : "tour-next");
  at("tour").hidden = false;
  lightTargets();
}

function lightTargets() { // and lays the spot around them
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  const targets = litElements();
  at("spot").hidden = !targets.length;
  at("block").classList.toggle("raised", targets.some((target) => target.dataset.number)); // its tensors
  if (!targets.length) return;
  for (const target of targets) target.classList.add("lit");
  const boxes = targets.map((target) => target.getBoundingClientRect()), margin = 6;
  const left = Math.min(...boxes.map((box) => box.left)) - margin, top = Math.min(...boxes.map((box) => box.top)) - margin;
  const width = Math.max(...boxes.map((box) => box.right)) + margin - left, height = Math.max(...boxes.map((box) => box.bottom)) + margin - top;
  at("tour").classList.toggle("left", left + width / 2 > 0.55 * innerWidth); // the card leaves it free
  at("spot").style.cssText = `left:${left + scrollX}px;top:${top + scrollY}px;width:${width}px;height:${height}px`;
}

// Scrolls the spot into the middle of what the card leaves free, or to its top if it is higher. A block
// is scrolled into view together with its tensors, beside which the card lies.
function scrollToSpot() {
  const { top, bottom, height } = at("spot").getBoundingClientRect();
  const nav = NARROW.matches ? 0 : document.querySelector("nav").offsetHeight, margin = 8;
  const tensors = at("block").getBoundingClientRect().top - margin, isBlock = at("block").matches(".raised");
  const free = innerHeight - nav - at("tour").offsetHeight - 4 * margin;
  const begin = isBlock && bottom - tensors < innerHeight - nav - margin ? Math.min(tensors, top) : top - (free - height) / 2;
  scrollTo({ top: scrollY + Math.min(begin, top) - nav - margin, behavior: STILL.matches ? "auto" : "smooth" });
}

function startTour() {
  if (isSwitched() || view.stepping) {
    Object.assign(view, { what: asTrained(), stepping: false });
    pause();
    changeSwitches();
  }
  at("tour").hidden = false;
  goTo(0);
  at("tour-next").focus({ preventScroll: true });
}

function endTour() {
  tour.step = -1;
  at("tour").hidden = true;
  lightTargets();
  at("start-tour").focus({ preventScroll: true });
}

at("start-tour").addEventListener("click", startTour);
at("tour-close").addEventListener("click", endTour);
at("tour-next").addEventListener("click", () => goTo(tour.step + 1));
at("tour-back").addEventListener("click", () => goTo(tour.step - 1));
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, #view");
  if (tour.step < 0 || isTyping || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "ArrowRight") goTo(tour.step + 1);
  else if (event.key === "ArrowLeft") goTo(tour.step - 1);
  else if (event.key === "Escape") endTour();
  else return;
  event.preventDefault();
});
new ResizeObserver(lightTargets).observe(document.body);
addEventListener("scroll", lightTargets, { passive: true }); // what is sticky moves
