// One token after another: the candidates of a step, and the steps that a reader walks or plays.

const CANDIDATES = 10;
const PLAY = 1500; // milliseconds per token
const LATEST = 12; // tokens of the decoder's input that are written out
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

function chooseStep(step) {
  view.step = step;
  show(["step", "flow", "inside", "block"]);
}

function showStep() { // the chosen one, and what else was likely there
  [...at("target-tokens").children].forEach((button, n) => {
    button.setAttribute("aria-pressed", n === view.step);
    button.classList.toggle("chosen", n === view.step);
  });
  const step = translation.steps[view.step], hadFocus = at("candidates").contains(document.activeElement);
  at("candidates-title").textContent = step ? say("candidates", { step: view.step + 1 }) : say("no-step");
  at("decoder-input").textContent = decoderInput();
  const tokens = step ? likeliest(step.probabilities, CANDIDATES) : [];
  at("candidates").replaceChildren(...tokens.map((token) => element("li", {}, candidateButton(token))));
  if (hadFocus) at("candidates").querySelector(".chosen")?.focus();
  showSourceAttention();
  if (view.isMoving) moveToken();
  view.isMoving = false;
}

function decoderInput() { // what the decoder has read at the chosen step, and what it predicts from it
  const quoted = (id) => `\u2068${label(id)}\u2069`;
  if (translation.source.length <= 2) return "";
  const tokens = translation.target.slice(0, view.step + 1).map(quoted);
  const read = (tokens.length > LATEST ? ["…"] : []).concat(tokens.slice(-LATEST)).join(" ");
  if (!translation.steps.length) return say("decoder-reads", { read });
  const id = translation.target[view.step + 1], { probabilities } = translation.steps[view.step];
  return say("decoder-predicts", { read, token: quoted(id), probability: percent(probabilities[id]) });
}

// Colors the source tokens by their weights in cross-attention of the last layer, the mean of its heads.
function showSourceAttention() {
  const weights = sourceWeights(view.step);
  [...at("source-tokens").children].forEach((chip, n) => {
    chip.style.background = weights[n] ? `rgba(var(--mark), ${0.45 * weights[n]})` : "";
  });
}

function sourceWeights(step) { // [] without such a step, or without cross-attention
  const heads = translation.state ? translation.attention("cross", layersOf("cross")) : [];
  if (!heads[0]?.[step]) return [];
  return heads[0][step].map((_, k) => heads.reduce((sum, head) => sum + head[step][k], 0) / heads.length);
}

function candidateButton({ id, probability }) {
  const bar = element("i"), isChosen = id === translation.target[view.step + 1];
  bar.style.width = `${100 * probability}%`;
  const button = element("button", { type: "button" }, bar,
    element("span", { textContent: label(id), dir: "auto" }), " ", element("span", { textContent: percent(probability) }));
  button.dataset.id = id;
  button.setAttribute("aria-pressed", isChosen);
  button.classList.toggle("chosen", isChosen);
  button.disabled = id === PAD || id === START;
  button.addEventListener("click", () => {
    view.forced = [...translation.target.slice(1, view.step + 1), id];
    view.fromRun = false;
    view.focusStep = view.step;
    view.wanted = view.forced.length;
    translate();
  });
  return button;
}

// Shows how a step adds a token: the bars of the distribution grow, then the chosen token flies to the target.
function moveToken() {
  const from = at("candidates").querySelector(".chosen span"), to = at("target-tokens").children[view.step];
  if (STILL.matches || !from || !to) return;
  for (const bar of at("candidates").querySelectorAll("i")) {
    bar.animate([{ width: 0 }, { width: bar.style.width }], { duration: 400, easing: "ease-out" });
  }
  const start = from.getBoundingClientRect(), end = to.getBoundingClientRect();
  const flying = element("span", { className: "flying", textContent: from.textContent });
  flying.style.cssText = `left:${start.left}px;top:${start.top}px`;
  document.body.append(flying);
  const way = `translate(${end.left - start.left}px, ${end.top - start.top}px)`;
  const timing = { duration: 500, delay: 400, easing: "ease-in-out", fill: "backwards" };
  to.animate([{ opacity: 0 }, { opacity: 0, offset: 0.9 }, { opacity: 1 }], { ...timing, delay: 0, duration: 900 });
  flying.animate([{ transform: "none" }, { transform: way }], timing).onfinish = () => flying.remove();
}

// ---- Walking and playing ----

function pause() {
  clearInterval(view.playing);
  view.playing = 0;
  at("play").textContent = say("play");
}

function startSteps(number) { // generates so many tokens from the start
  Object.assign(view, { stepping: true, wanted: number, focusStep: undefined, isMoving: number > 0 });
  translate();
}

function oneStep() { // -> whether the run generates its tokens one by one
  if (!view.stepping) startSteps(1);
  else if (isWorking) view.wanted += 1;
  else {
    view.isMoving = !translation.done;
    complete(translation.step());
    view.wanted = translation.steps.length;
    view.step = Math.max(0, view.wanted - 1);
    if (translation.done) pause();
    show();
  }
  return true;
}

function walk() { // one step, and no further
  pause();
  oneStep();
}

function play() { // to the end; from the start if the end is reached
  const isPlaying = view.playing > 0;
  pause();
  if (isPlaying) return;
  if (view.stepping && !isWorking && translation.done) startSteps(1);
  else if (!oneStep()) return;
  view.playing = setInterval(oneStep, PLAY);
  at("play").textContent = say("pause");
}
