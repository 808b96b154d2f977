// One attention weight, calculated as on paper: q, k, products, sum, scale, mask, e^x, weight, values.

const TUTORIAL = { // the example of the notebook: two keys of d_k = 3
  queries: ["query 1", "query 2"], labels: ["key 1", "key 2"],
  q: [[0, 1, 0], [0, 0, 1]], keys: [[1, 2, 0], [0, 1, 1]], values: [[1, 0], [2, 0]],
};

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

// Draws the calculation into `place`. given: {q, keys, values, labels, masked, scaling}.
function drawByHand(place, given, key, say) {
  const { q, keys, values, labels, masked, scaling } = given;
  const numbers = calculate(q, keys, values, key, masked, scaling);
  const title = (name, filled) => element("h3", { textContent: say(name, filled) });
  const rows = Array.from(q, (number, n) => [`${n}`, barred(number), barred(keys[key][n]), barred(numbers.products[n])]);
  const shares = labels.map((label, k) => [label, masked[k] ? "−1e9" : figure(numbers.scores[k]),
    figure(numbers.exponentials[k]), barred(numbers.weights[k])]);
  const parts = labels.map((label, k) => [say("hand-part", { weight: figure(numbers.weights[k]), key: label }),
    ...Array.from(values[k], (number) => figure(number))]);
  parts.push([say("hand-output"), ...numbers.output.map(figure)]);
  const shift = numbers.shift < 0 ? `(${figure(numbers.shift)})` : figure(numbers.shift);
  const exponent = numbers.shift ? say("hand-exp-shifted", { shift }) : say("hand-exp");
  const scaled = { depth: q.length, root: figure(numbers.root), scaled: figure(numbers.scaled) };
  place.replaceChildren(
    title("hand-qk"),
    scrolling(table([say("hand-dimension"), "q", "k", say("hand-product")], rows), say("hand-qk")),
    title("hand-sum", { sum: figure(numbers.sum) }),
    title(scaling ? "hand-scale" : "hand-no-scale", scaled),
    title(masked[key] ? "hand-mask" : "hand-no-mask"),
    title("hand-softmax"),
    ...(numbers.shift ? [element("p", { textContent: say("hand-shift", { shift }) })] : []),
    scrolling(table([say("hand-key"), say("hand-score"), exponent, say("hand-weight")], shares, key), say("hand-softmax")),
    element("p", { textContent: say("hand-row-sum", { sum: figure(numbers.total) }), className: "figures" }),
    element("p", { className: "figures", id: "hand-weight", textContent: say("hand-division", {
      exp: figure(numbers.exponentials[key]), sum: figure(numbers.total), weight: figure(numbers.weights[key]) }) }),
    title("hand-values"),
    scrolling(table(["", ...numbers.output.map((_, n) => `${n}`)], parts, parts.length - 1), say("hand-values")),
  );
  return numbers;
}
