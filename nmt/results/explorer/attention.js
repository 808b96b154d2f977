// The attention of a kind and a layer: lines between queries and keys, and what is chosen there.

function showLayers() { // those that have the chosen kind of attention
  options(at("layer"), Array.from({ length: layersOf(at("kind").value) }, (_, n) => `${n + 1}`));
}

// -> {queries, keys (labels), weights [query][key] of the chosen heads, units of both, heads [head][query][key]}
function* attentionSides() {
  const kind = at("kind").value, names = (ids) => ids.map((id) => tokenizer.piece(id));
  const heads = translation.attention(kind, Number(at("layer").value) + 1), head = at("head").value;
  const traces = heads[0].length;
  const queries = unitsOf(names(translation.queries(kind)).slice(0, traces), at("units").value);
  const keys = unitsOf(names(translation.keys(kind)), at("units").value);
  const chosen = head === MEAN ? heads : [heads[head]];
  const weights = yield* perRow(queries, (query) => unitWeights(chosen, [query], keys)[0]);
  return { queries: queries.map((one) => one.label), keys: keys.map((one) => one.label), weights, heads,
    units: { queries, keys } };
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

let pointed = null; // the token of the attention view that is chosen

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
  drawFlow(chosen);
  pointed = chosen;
  if (chosen) showExercises();
}

function describe({ side, number }) {
  const labels = side === "queries" ? sides.keys : sides.queries;
  const weights = labels.map((text, n) =>
    [text, side === "queries" ? sides.weights[number][n] : sides.weights[n][number]]);
  const strongest = weights.sort((a, b) => b[1] - a[1]).slice(0, 5);
  const list = strongest.map(([text, weight]) => `\u2068${text}\u2069 ${weight.toFixed(3)}`).join(", ");
  return say(side === "queries" ? "attends" : "attended", { unit: `\u2068${sides[side][number]}\u2069`, list });
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
