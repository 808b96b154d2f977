// Small networks that learn before the reader's eyes, each in a worker of its own: learning/.

const SEED = 1, EXAMPLES = 5;
const PARTS = ["positions", "scaling", "lookAhead", "residual"];
const learners = [newLearner(), newLearner()]; // the second one beside the first

function newLearner() { // what a network is given, and its last report
  return { peak: 0.003, warmup: 100, layers: 1, without: [], worker: null, losses: [], entries: null, held: null, heads: 0, first: 0, report: null };
}

const learns = () => learners.some(({ worker }) => worker);
const shownLearners = () => (at("learn-second").checked ? learners : learners.slice(0, 1));

function startWorker(learner) {
  const program = new Blob([at("learner").textContent], { type: "text/javascript" });
  const url = URL.createObjectURL(program);
  learner.worker = new Worker(url);
  URL.revokeObjectURL(url);
  learner.worker.onmessage = ({ data: message }) => {
    if (message.entries) Object.assign(learner, message);
    else {
      learner.losses.push(...message.losses);
      learner.report = message;
      showLearner(learner);
      showLosses();
      showExercises();
      if (shownLearners().every((one) => one.report?.isPaused)) setLearning(false);
    }
  };
  const parts = Object.fromEntries(PARTS.map((name) => [name, !learner.without.includes(name)]));
  const { peak, warmup, layers } = learner, settings = { seed: SEED, parts, layers, peak, warmup };
  learner.worker.postMessage({ task: at("learn-task").value, pairs: data.pairs, settings, isPaused: false });
}

function endLearning() { // and forgets what was learned
  for (const learner of learners) {
    learner.worker?.terminate();
    Object.assign(learner, { worker: null, losses: [], report: null });
  }
  showLearning();
}

function learn() { // begins, pauses, goes on
  if (!learns()) {
    for (const learner of shownLearners()) startWorker(learner);
    setLearning(true);
    return;
  }
  const isPaused = at("learn").dataset.state === "learning";
  for (const { worker } of shownLearners()) worker.postMessage({ isPaused });
  setLearning(!isPaused);
}

function setLearning(isLearning) {
  at("learn").dataset.state = isLearning ? "learning" : "waiting";
  at("learn").textContent = say(isLearning ? "pause" : learns() ? "learn-on" : "learn-start");
}

// ---- Settings: a change begins anew ----

function slider(learner, name, range) {
  const value = element("output", { textContent: learner[name] });
  const input = element("input", { type: "range", ...range, value: learner[name] });
  input.addEventListener("input", () => { value.textContent = input.value; });
  input.addEventListener("change", () => {
    learner[name] = Number(input.value);
    endLearning();
  });
  return element("label", {}, element("span", {}, say(`learn-${name}`), " ", value), input);
}

function partBox(learner, name) {
  const box = element("input", { type: "checkbox", checked: learner.without.includes(name) });
  box.addEventListener("change", () => {
    learner.without = PARTS.filter((part) => (part === name ? box.checked : learner.without.includes(part)));
    endLearning();
  });
  const answer = element("details", {}, element("summary", { textContent: say("expect") }), element("p", { textContent: say(`learn-expect-${name}`) }));
  return element("div", { className: "switch" }, element("label", {}, box, say(`what-${name}`)), answer);
}

function learnerPanel(learner, number) {
  const panel = element("div", { className: "learner", id: `learner-${number + 1}` });
  panel.append(
    element("h3", { textContent: say("learn-network", { number: number + 1 }) }),
    element("div", { className: "row" }, slider(learner, "peak", { min: 0.0005, max: 0.03, step: 0.0005 }),
      slider(learner, "warmup", { min: 0, max: 300, step: 10 }), slider(learner, "layers", { min: 1, max: 2 })),
    element("details", { open: learner.without.length > 0 }, element("summary", { textContent: say("learn-without") }),
      ...PARTS.map((name) => partBox(learner, name))),
    element("p", { className: "figures progress" }), element("div", { className: "heads" }), element("ul", { className: "written" }),
  );
  return panel;
}

// ---- What is seen of it ----

function showLearning() {
  at("learners").replaceChildren(...shownLearners().map(learnerPanel));
  setLearning(learns() && at("learn").dataset.state === "learning");
  shownLearners().forEach(showLearner);
  showLosses();
}

function showLearner(learner) {
  const panel = at(`learner-${learners.indexOf(learner) + 1}`), { report } = learner;
  if (!panel || !report) return;
  const right = report.isRight.filter(Boolean).length;
  panel.querySelector(".progress").textContent = say("learn-progress", { step: report.step, accuracy: percent(report.accuracy),
    loss: report.step ? figure(learner.losses.at(-1)) : "–", right, all: report.isRight.length, seconds: report.seconds.toFixed(1) });
  const tokens = (side, ids) => ids.filter((id) => id >= learner.first).map((id) => learner.entries[side][id - learner.first]);
  const sources = learner.held.inputs.slice(0, EXAMPLES).map((ids) => tokens(0, ids));
  const written = report.written.slice(0, EXAMPLES).map((ids) => tokens(1, ids));
  panel.querySelector(".written").replaceChildren(...sources.map((source, n) => {
    const isRight = report.isRight[n];
    return element("li", { className: isRight ? "right" : "wrong" }, element("span", { lang: "pt", textContent: source.join(" ") }), " → ",
      element("span", { textContent: written[n].join(" ") || "–" }), isRight ? " ✓" : " ✗");
  }));
  showHeads(panel.querySelector(".heads"), learner, sources[0], written[0]);
}

// The cross-attention of the first example: of each head, a row for each token written, a column for each of the source.
function showHeads(view, { heads, held, report }, source, written) {
  const weights = report.cross, keys = held.inputs[0].length, rows = weights.length / heads / keys;
  if (view.children.length !== heads || view.dataset.source !== source.join(" ")) {
    view.dataset.source = source.join(" ");
    const cells = (name, texts) => texts.map((text) => element(name, { textContent: text }));
    view.replaceChildren(...Array.from({ length: heads }, (_, head) => element("table", {},
      element("caption", { textContent: say("learn-head", { number: head + 1 }) }),
      element("tr", {}, element("td"), ...cells("th", source)),
      ...Array.from({ length: rows }, () => element("tr", {}, element("th"), ...cells("td", source.map(() => "")))))));
  }
  [...view.children].forEach((grid, head) => [...grid.rows].slice(1).forEach((row, query) => {
    row.style.visibility = query > written.length ? "hidden" : ""; // after the token that ended it
    row.cells[0].textContent = written[query] ?? "■";
    source.forEach((_, key) => {
      const weight = weights[(head * rows + query) * keys + key];
      row.cells[key + 1].style.background = `rgba(var(--mark), ${weight.toFixed(3)})`;
      row.cells[key + 1].title = percent(weight);
    });
  }));
}

function showLosses() { // of both networks: blue, orange; from 0 to the first loss, over the steps
  const canvas = at("losses"), context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio;
  canvas.width = box.width * scale;
  canvas.height = box.height * scale;
  const steps = Math.max(100, ...learners.map(({ losses }) => losses.length));
  const most = Math.max(1, ...learners.map(({ losses }) => losses[0] ?? 0)) * 1.1;
  learners.forEach(({ losses }, number) => {
    context.strokeStyle = `rgb(${style.getPropertyValue(["--mark", "--against"][number])})`;
    context.lineWidth = 2 * scale;
    context.beginPath();
    losses.forEach((loss, step) => context.lineTo((step / steps) * canvas.width, (1 - Math.min(1, loss / most)) * canvas.height));
    context.stroke();
  });
  at("losses-label").textContent = say("learn-losses", { steps, most: most.toFixed(1) });
}

at("learn").addEventListener("click", learn);
at("learn-anew").addEventListener("click", endLearning);
for (const id of ["learn-task", "learn-second"]) at(id).addEventListener("change", endLearning);
