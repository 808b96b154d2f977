// "Now you": exercises that the page checks itself, as the reader does them.

const generated = () => translation?.done && translation.steps.length > 0;
const ranTo = (n) => learners[n].report?.step > 50;

const EXERCISES = [ // what each asks for is in its text, `exercise-NAME`
  { name: "pieces", section: "translate", isDone: () => { // one word, in several tokens
    const words = view.source.trim().split(/\s+/);
    return generated() && words.length === 1 && translation.source.length - 2 > 4;
  } },
  { name: "token", section: "translate", isDone: () => generated() && view.forced.length > 0 && !view.fromRun },
  { name: "crossing", section: "attention", isDone: () => generated() && at("kind").value === "cross" && crossesLines() },
  { name: "masked", section: "by-hand", isDone: () => generated() && at("kind").value === "decoder"
    && at("hand-numbers").value === "run" && Number(at("hand-key").value) > Number(at("hand-query").value) },
  { name: "search", section: "search", isDone: () => trees.length > 0 && trees.slice(0, 2).every(({ done, best }) => done && best)
    && `${trees[0].ids(trees[0].best)}` !== `${trees[1].ids(trees[1].best)}` },
  { name: "order", section: "what-if", isDone: () => former?.changed > 0 && !view.what.positions },
  { name: "answer", section: "learning", isDone: () => learners.some(({ without, report }, n) =>
    without.includes("lookAhead") && ranTo(n) && report.accuracy === 1 && !report.isRight.every(Boolean)) },
  { name: "warmup", section: "learning", isDone: () => learners.some(({ warmup, peak }, n) => warmup === 0 && peak >= 0.02 && ranTo(n))
    && learners.some(({ warmup, peak }, n) => warmup > 0 && peak >= 0.02 && ranTo(n)) },
];
const solved = new Set(); // names of exercises

// Whether the line of the word that the reader points at crosses another word's in cross-attention.
function crossesLines() {
  const strongest = (sides?.weights ?? []).map(highest); // key of each query
  return strongest.some((key, query) => (pointed?.side === "queries" ? query : key) === pointed?.number
    && strongest.some((other, n) => (n - query) * (other - key) < 0));
}

function showExercises() {
  const isOwn = tour.step < 0; // what the tour chooses is not the reader's doing
  for (const { name, isDone } of EXERCISES) if (isOwn && !solved.has(name) && isDone()) solved.add(name);
  const next = EXERCISES.find(({ name }) => !solved.has(name));
  at("exercise-list").replaceChildren(...EXERCISES.map(({ name, section }) => {
    const link = element("a", { href: `#${section}`, textContent: say(section) });
    const item = element("li", { className: solved.has(name) ? "right" : "" }, say(`exercise-${name}`), " ", link, solved.has(name) ? " ✓" : "");
    item.classList.toggle("chosen", name === next?.name);
    return item;
  }));
  at("exercises-done").textContent = say("exercises-done", { number: solved.size, all: EXERCISES.length });
}
