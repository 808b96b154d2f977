// Search as a tree: which beginnings of a translation greedy search, beam search and sampling follow.

const TREES = ["greedy", "beam", "samples"];

// ((5 + length) / 6)^alpha, by which log-probabilities are divided, as in nmt/decoding/search_options.py
const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

function copied(state) { // of a decoder: what a branch continues from
  const layers = state.layers.map((layer) =>
    ({ ...layer, ...Object.fromEntries(["self", "cross", "ffn", "keys", "values"].map((name) => [name, [...layer[name]]])) }));
  return { ...state, ids: [...state.ids], embedded: [...state.embedded], output: [...state.output], layers };
}

// A search that follows `width` hypotheses, token by token, as nmt/decoding/beam.py; with `random`, as many samples.
// A node is a token: {id, parent, probability, log (of all tokens so far), length, number (of samples), state,
// kind: "live", "complete" or "dropped"}.
class SearchTree {
  constructor(network, source, width, alpha, random = null, what = AS_TRAINED) {
    Object.assign(this, { network, source, width, alpha, random, what, encoded: null });
    this.root = { id: START, parent: null, log: 0, length: 0, number: width, kind: "live" };
    this.columns = []; // nodes of each length
    this.limit = source.length + EXTRA_TOKENS;
    this.complete = []; // nodes
    this.best = null; // of them
    this.done = source.length <= 2;
  }

  score({ log, length }) { return log / lengthPenalty(length, this.alpha); }

  *step() { // one token more
    const parents = this.columns.length ? this.columns.at(-1).filter(({ kind }) => kind === "live") : [this.root];
    if (!this.encoded) {
      this.encoded = yield* this.network.encode(this.source, this.what);
      this.root.state = yield* this.network.start(this.encoded);
    }
    const nodes = [];
    for (const parent of parents) nodes.push(...yield* this.continuations(parent));
    this.columns.push(this.random ? nodes : this.chosen(nodes));
    this.complete.push(...this.columns.at(-1).filter(({ kind }) => kind === "complete"));
    this.best = this.complete.reduce((best, node) => (best && this.score(best) >= this.score(node) ? best : node), null);
    this.done = !this.mayImprove();
    if (this.done) for (const node of this.columns.at(-1)) if (node.kind === "live") node.kind = "dropped";
  }

  *continuations(parent) { // the likeliest 2 K, or one for each sample
    // Without the mask, earlier positions see later ones: all are computed again.
    const state = this.what.lookAhead ? copied(parent.state) : yield* this.network.start(this.encoded);
    const read = this.what.lookAhead ? [parent.id] : [START, ...this.ids(parent)];
    const logits = (yield* this.network.decode(state, read, this.what)).at(-1);
    const probabilities = softmax(logits), allowed = allowedLogits(logits, [PAD, START]);
    const drawn = () => Array.from({ length: parent.number }, () => draw(allowed, { temperature: 1, topK: 0, topP: 1, random: this.random }));
    const ids = this.random ? drawn() : likeliest(softmax(allowed), 2 * this.width).map(({ id }) => id);
    return [...new Set(ids)].map((id) => ({
      id, parent, state, probability: probabilities[id], log: parent.log + Math.log(probabilities[id]), length: parent.length + 1,
      number: ids.filter((one) => one === id).length, kind: id === END || parent.length + 1 >= this.limit ? "complete" : "live",
    }));
  }

  chosen(nodes) { // of the best 2 K, all that are complete, and the best K others stay
    const best = nodes.sort((a, b) => b.log - a.log).slice(0, 2 * this.width);
    best.filter(({ kind }) => kind === "live").slice(this.width).forEach((node) => { node.kind = "dropped"; });
    return best;
  }

  mayImprove() { // whether a live node may still become the best
    const live = this.columns.at(-1).filter(({ kind }) => kind === "live");
    if (this.random || !this.best || !live.length) return live.length > 0;
    return Math.max(...live.map(({ log }) => log)) / lengthPenalty(this.limit, this.alpha) > this.score(this.best);
  }

  ids(node) { // of its text
    const ids = [];
    for (let one = node; one.parent; one = one.parent) ids.unshift(one.id);
    return ids;
  }
}

// ---- What is seen of it ----

let trees = []; // of TREES
let growing = 0; // number of the latest growth

function newTrees() {
  const width = fieldNumber("width"), alpha = fieldNumber("alpha", Number), source = translation.encoded?.ids ?? [START, END];
  trees = [[1, null], [width, null], [width, Math.random]].map(([number, random]) =>
    new SearchTree(network, source, number, alpha, random, view.what));
}

async function grow(isWanted) { // adds tokens to the trees while isWanted() says so
  const current = ++growing;
  do {
    for (const tree of trees) {
      if (!tree.done) await inSlices(tree.step(), () => current === growing);
      if (current !== growing) return;
    }
    showTrees();
    showExercises();
  } while (isWanted() && trees.some(({ done }) => !done));
}

function showTrees() {
  const found = (tree, node) => say(tree.random ? "tree-drawn" : "tree-found", { text: `\u2068${textOf(tree.ids(node))}\u2069`, number: node.number,
    probability: percent(Math.exp(node.log)), score: figure(tree.score(node)) });
  at("trees").replaceChildren(...trees.flatMap((tree, n) => [
    element("h3", { textContent: say(`tree-${TREES[n]}`, { number: tree.width }) }),
    scrolling(treeView(tree), say(`tree-${TREES[n]}`, { number: tree.width })),
    ...(tree.done ? (tree.random ? tree.complete : [tree.best]).map((node) => element("p", { className: "faint", textContent: found(tree, node) })) : []),
  ]));
  for (const box of at("trees").querySelectorAll(".scroll")) box.scrollLeft = box.scrollWidth; // to the newest token
}

// A column for each token, its nodes below each other; a line leads from each node to the one before.
function treeView(tree) {
  const WIDTH = 96, HEIGHT = 54, onPath = new Set();
  for (let node = tree.best; node; node = node.parent) onPath.add(node);
  const rows = Math.max(1, ...tree.columns.map((column) => column.length)), view = element("div", { className: "tree" });
  view.style.cssText = `width:${WIDTH * tree.columns.length}px;height:${HEIGHT * rows}px`;
  const places = new Map([[tree.root, [0, HEIGHT / 2]]]), lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  tree.columns.forEach((column, x) => column.forEach((node, y) => {
    places.set(node, [WIDTH * x + WIDTH - 18, HEIGHT * y + HEIGHT / 2]);
    const [fromX, fromY] = places.get(node.parent), line = document.createElementNS(lines.namespaceURI, "line");
    const ends = { x1: fromX, y1: fromY, x2: WIDTH * x + 16, y2: HEIGHT * y + HEIGHT / 2, "stroke-opacity": node.kind === "dropped" ? 0.15 : 0.3 + 0.7 * node.probability };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    lines.append(line);
    const box = element("span", { className: `${node.kind}${onPath.has(node) ? " best" : ""}`, dir: "auto" }, label(node.id),
      element("small", { textContent: percent(node.probability) }),
      element("small", { textContent: tree.random ? `× ${node.number}` : tree.score(node).toFixed(2).replace("-", "−") }));
    box.style.cssText = `left:${WIDTH * x + 16}px;top:${HEIGHT * y + 2}px`;
    box.title = say("tree-node", { score: figure(tree.score(node)), probability: percent(Math.exp(node.log)) });
    view.append(box);
  }));
  view.prepend(lines);
  return view;
}

function restartTrees() {
  growing++;
  newTrees();
  at("trees").replaceChildren();
}

at("grow").addEventListener("click", () => {
  if (!trees.length || trees.every(({ done }) => done)) restartTrees();
  grow(() => false);
});
at("grow-all").addEventListener("click", () => {
  restartTrees();
  grow(() => true);
});
for (const id of ["width", "alpha"]) at(id).addEventListener("change", restartTrees);
