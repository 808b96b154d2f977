// One attention weight, calculated as on paper: q, k, products, sum, scale, mask, e^x, weight, values.

const TUTORIAL = { // the example of the notebook: two keys of d_k = 3
  queries: ["query 1", "query 2"], labels: ["key 1", "key 2"],
  q: [[0, 1, 0], [0, 0, 1]], keys: [[1, 2, 0], [0, 1, 1]], values: [[1, 0], [2, 0]],
};

// Every number on the way to the weight of `key` and to the output of the head.
// q: [d_k]; keys: [[d_k]]; values: [[d_v]]; masked: [boolean] by key.
function calculate(q, keys, values, key, masked, scaling = true) {
  const root = scaling ? Math.sqrt(q.length) : 1;
  const products = keys.map((k) => Array.from(k, (number, n) => number * q[n]));
  const sums = products.map((row) => row.reduce((a, b) => a + b, 0));
  const scores = sums.map((sum, k) => sum / root + (masked[k] ? MASKED : 0));
  const exponentials = scores.map(Math.exp);
  const total = exponentials.reduce((a, b) => a + b, 0);
  const weights = exponentials.map((number) => number / total);
  const output = Array.from(values[0], (_, n) =>
    weights.reduce((sum, weight, k) => sum + weight * values[k][n], 0));
  return { products: products[key], sum: sums[key], root, scaled: sums[key] / root, scores, exponentials,
    total, weights, output };
}

// Draws the calculation into `place`. given: {q, keys, values, labels, masked, scaling}.
function drawByHand(place, given, key, say) {
  const { q, keys, values, labels, masked, scaling } = given;
  const numbers = calculate(q, keys, values, key, masked, scaling);
  const title = (name, filled) => element("h3", { textContent: say(name, filled) });
  const rows = Array.from(q, (number, n) => [`${n}`, barred(number), barred(keys[key][n]), barred(numbers.products[n])]);
  const shares = labels.map((label, k) => [label, masked[k] ? "−1e9" : figure(numbers.scores[k]),
    figure(numbers.exponentials[k]), barred(numbers.weights[k])]);
  const parts = labels.map((label, k) => [`${figure(numbers.weights[k])} × ${label}`,
    ...Array.from(values[k], (number) => figure(number))]);
  parts.push([say("hand-output"), ...numbers.output.map(figure)]);
  const scaled = { depth: q.length, root: figure(numbers.root), scaled: figure(numbers.scaled) };
  place.replaceChildren(
    title("hand-qk"),
    scrolling(table([say("hand-dimension"), "q", "k", say("hand-product")], rows)),
    title("hand-sum", { sum: figure(numbers.sum) }),
    title(scaling ? "hand-scale" : "hand-no-scale", scaled),
    title(masked[key] ? "hand-mask" : "hand-no-mask"),
    title("hand-softmax"),
    scrolling(table([say("hand-key"), say("hand-score"), say("hand-exp"), say("hand-weight")], shares, key)),
    element("p", { textContent: say("hand-row-sum", { sum: figure(numbers.total) }), className: "figures" }),
    element("p", { className: "figures", id: "hand-weight", textContent: say("hand-division", {
      exp: figure(numbers.exponentials[key]), sum: figure(numbers.total), weight: figure(numbers.weights[key]) }) }),
    title("hand-values"),
    scrolling(table(["", ...numbers.output.map((_, n) => `${n}`)], parts, parts.length - 1)),
  );
  return numbers;
}
