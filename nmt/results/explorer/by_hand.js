// One attention weight, calculated as on paper: q, k, products, sum, scale, mask, e^x, weight, values.

const TUTORIAL = { // the example of the notebook: two keys of d_k = 3
  q: [[0, 1, 0], [0, 0, 1]], keys: [[1, 2, 0], [0, 1, 1]], values: [[1, 0], [2, 0]],
};

const MAX_KEYS = 40; // rows of a table of keys: those around the chosen one; one more row sums up the others
const LARGEST_SCORE = 80; // beyond it, e^score leaves what float32 can hold (e^88); float64: e^709

// Every number on the way to the weight of `key` and to the output of the head.
// q: [d_k]; keys: [[d_k]]; values: [[d_v]]; masked: [boolean] by key. shift: what is subtracted from
// every score so that no power overflows, and not all are 0: the highest score, or 0 if it is small.
function calculate(q, keys, values, key, masked, scaling = true) {
  const root = scaling ? Math.sqrt(q.length) : 1;
  const products = keys.map((k) => Array.from(k, (number, n) => number * q[n]));
  const sums = products.map((row) => row.reduce((a, b) => a + b, 0));
  const scores = sums.map((sum, k) => sum / root + (masked[k] ? MASKED : 0));
  const highestScore = Math.max(...scores), shift = Math.abs(highestScore) > LARGEST_SCORE ? highestScore : 0;
  const exponentials = scores.map((score) => Math.exp(score - shift));
  const total = exponentials.reduce((a, b) => a + b, 0);
  const weights = exponentials.map((number) => number / total);
  const output = Array.from(values[0], (_, n) =>
    weights.reduce((sum, weight, k) => sum + weight * values[k][n], 0));
  return { products: products[key], sum: sums[key], root, scaled: sums[key] / root, scores, shift,
    exponentials, total, weights, output };
}

// The numbers of at most MAX_KEYS keys, in order, with the chosen one in the middle if possible.
function keysAround(key, all) {
  const first = Math.max(0, Math.min(key - MAX_KEYS / 2, all - MAX_KEYS));
  return Array.from({ length: Math.min(all, MAX_KEYS) }, (_, n) => first + n);
}

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

// The rows of the tables of all keys: scores with their shares; values, plain and weighted. Only the
// keys of `shown` have rows of their own. -> {shares, parts}
function keyRows({ values, labels, masked }, numbers, shown, say) {
  const { scores, exponentials, weights, output } = numbers;
  const shares = shown.map((k) => [labels[k], masked[k] ? "−1e9" : figure(scores[k]), figure(exponentials[k]),
    barred(weights[k])]);
  const parts = shown.flatMap((k) => [
    [say("hand-value", { key: labels[k] }), ...Array.from(values[k], (number) => figure(number))],
    [say("hand-part", { weight: figure(weights[k]), key: labels[k] }),
      ...Array.from(values[k], (number) => figure(weights[k] * number))],
  ]);
  const others = [...labels.keys()].filter((k) => !shown.includes(k));
  if (others.length) {
    const sum = (list) => total(others.map((k) => list[k])), number = others.length;
    shares.push([say("hand-others", { number }), "", figure(sum(exponentials)), barred(sum(weights))]);
    parts.push([say("hand-other-values", { number }), ...output.map((_, n) => figure(total(others.map((k) => weights[k] * values[k][n]))))]);
  }
  parts.push([say("hand-output"), ...output.map(figure)]);
  return { shares, parts };
}

// Draws the calculation into `place`. given: {q, keys, values, labels, masked, scaling, where (a text)}.
function drawByHand(place, given, key, say) {
  const { q, keys, values, labels, masked, scaling, where } = given;
  const numbers = calculate(q, keys, values, key, masked, scaling);
  const title = (name, filled) => element("h3", { textContent: say(name, filled) });
  const rows = Array.from(q, (number, n) => [`${n}`, barred(number), barred(keys[key][n]), barred(numbers.products[n])]);
  const shown = keysAround(key, labels.length), { shares, parts } = keyRows(given, numbers, shown, say);
  const shift = numbers.shift < 0 ? `(${figure(numbers.shift)})` : figure(numbers.shift);
  const exponent = numbers.shift ? say("hand-exp-shifted", { shift }) : say("hand-exp");
  const scaled = { depth: q.length, root: figure(numbers.root), scaled: figure(numbers.scaled) };
  const scores = table([say("hand-key"), say("hand-score"), exponent, say("hand-weight")], shares, shown.indexOf(key));
  place.replaceChildren(
    title("hand-qk"),
    scrolling(table([say("hand-dimension"), "q", "k", say("hand-product")], rows), say("hand-qk")),
    title("hand-sum", { sum: figure(numbers.sum) }),
    title(scaling ? "hand-scale" : "hand-no-scale", scaled),
    title(masked[key] ? "hand-mask" : "hand-no-mask"),
    title("hand-softmax"),
    ...(numbers.shift ? [element("p", { textContent: say("hand-shift", { shift }) })] : []),
    scrolling(scores, say("hand-softmax")),
    element("p", { textContent: say("hand-row-sum", { sum: figure(numbers.total) }), className: "figures" }),
    element("p", { className: "figures", id: "hand-weight", textContent: say("hand-division", {
      exp: figure(numbers.exponentials[key]), sum: figure(numbers.total), weight: figure(numbers.weights[key]) }) }),
    element("p", { className: "faint", textContent: where }),
    title("hand-values"),
    scrolling(table(["", ...numbers.output.map((_, n) => `${n}`)], parts, parts.length - 1), say("hand-values")),
  );
}

// ---- What the page calculates with ----

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
