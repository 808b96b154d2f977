// The flow of attention for one query: ribbons from the key tokens through the heads to the output.
// The width of a ribbon from a token to a head is the weight; from a head to the output, it is the
// share of the head: the length of what it adds, W_O's part of it, divided by the sum over heads.

const FLOW_KEYS = 14; // tokens that are drawn; the others are one ribbon together
const FLOW = { gap: 9, row: 20, key: 5, head: 40 }; // in pixels: gaps and sizes
const weightSize = () => (NARROW.matches ? 40 : 22); // the width of a weight of 1: there, a head is for a thumb

function flowQuery(chosen) { // the number of the unit whose attention is drawn
  const units = sides.units.queries, kind = at("kind").value;
  if (chosen?.side === "queries") return chosen.number;
  const ofBlock = view.block.stack === 0 ? view.block.position : sourceOf(view.step);
  const token = kind === "encoder" ? ofBlock : view.step;
  return Math.max(0, units.findIndex(({ tokens }) => tokens.includes(token)));
}

function sourceOf(step) { // the position of the source to which a step attends most
  const weights = sourceWeights(step).map((weight, k) => (isSpecial(tokenizer.piece(translation.encoded.ids[k])) ? 0 : weight));
  return weights.length ? highest(weights) : 0;
}

// What each head adds to the output at the query's tokens, as shares of the sum of lengths.
function headShares(kind, layer, tokens) {
  const name = `${kind === "cross" ? "decoder" : kind}.${layer}.${kind === "cross" ? "cross" : "self"}.dense.kernel`;
  const { shape: [units, width], values } = network.tensors[name], { depth } = network;
  const traces = translation.traces(kind, layer);
  const lengths = Array.from({ length: network.sizes.num_heads }, (_, head) => {
    const part = head * depth;
    return total(tokens.map((token) => norm(Float32Array.from({ length: units }, (_, unit) =>
      dot(values, traces[token].heads, depth, unit * width + part, part)))));
  });
  return lengths.map((length) => length / (total(lengths) || 1));
}

// The head that the texts name and the picture lights: the chosen one, or the one that adds most.
const namedHead = (shares) => (at("head").value === MEAN ? highest(shares) : Number(at("head").value));

// -> {keys: [{label, weights (by head)}], shares, label} of a query unit; null if attention is switched off
function flowOf(number) {
  const query = sides.units.queries[number], kind = at("kind").value, layer = Number(at("layer").value) + 1;
  if (!query || !translation.traces(kind, layer)[0]?.heads) return null;
  const rows = sides.heads.map((head) => unitWeights([head], [query], sides.units.keys)[0]);
  const all = sides.keys.map((text, k) => ({ label: text, number: k, weights: rows.map((row) => row[k]) }));
  const strongest = new Set([...all].sort((a, b) => total(b.weights) - total(a.weights)).slice(0, FLOW_KEYS));
  const keys = all.filter((key) => strongest.has(key)), others = all.filter((key) => !strongest.has(key));
  if (others.length) {
    keys.push({ label: say("flow-others", { number: others.length }),
      weights: rows.map((_, head) => total(others.map((key) => key.weights[head]))) });
  }
  return { keys, shares: headShares(kind, layer, query.tokens), label: query.label };
}

// ---- Drawing ----

function shape(name, attributes, children = []) { // an element of an SVG
  const result = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
  result.append(...children);
  return result;
}

// A ribbon from the span [top, bottom] at x to another one.
function ribbon(x, [top, bottom], toX, [toTop, toBottom], head) {
  const half = (x + toX) / 2;
  return shape("path", { class: "ribbon", "data-head": head,
    d: `M${x} ${top}C${half} ${top} ${half} ${toTop} ${toX} ${toTop}V${toBottom}C${half} ${toBottom} ${half} ${bottom} ${x} ${bottom}z` });
}

// Spans [top, bottom] of heights, one below another in the middle of `height`, with `gap` between.
function stacked(heights, gap, height) {
  let top = (height - total(heights) - gap * (heights.length - 1)) / 2;
  return heights.map((size) => {
    const span = [top, top + size];
    top += size + gap;
    return span;
  });
}

function drawFlow(chosen) {
  const flow = sides ? flowOf(flowQuery(chosen)) : null, svg = at("flow").querySelector("svg");
  const buttons = [...at("flow").querySelectorAll("button")], width = at("flow").clientWidth;
  at("flow-title").textContent = flow ? say("flow-title", { unit: `\u2068${flow.label}\u2069` }) : "";
  at("flow-description").textContent = flow ? describeFlow(flow) : "";
  if (!flow || !width) {
    svg.replaceChildren();
    for (const button of buttons) button.remove();
    return;
  }
  const { keys, shares } = flow, heads = shares.length, unit = weightSize();
  const rows = keys.map(({ weights }) => Math.max(FLOW.row, unit * total(weights)));
  const height = Math.max(total(rows) + FLOW.key * (keys.length - 1), heads * (unit + FLOW.gap));
  const left = Math.min(130, 0.28 * width), middle = 0.58 * width, right = width - Math.min(100, 0.2 * width);
  const keySpans = stacked(rows, FLOW.key, height);
  const headSpans = stacked(shares.map(() => unit), FLOW.gap, height);
  const outputs = stacked(shares.map((share) => share * heads * unit), 0, height);
  const ribbons = [], inHead = headSpans.map(([top]) => top);
  keys.forEach(({ weights }, k) => {
    let y = (keySpans[k][0] + keySpans[k][1] - unit * total(weights)) / 2;
    weights.forEach((weight, head) => {
      const size = unit * weight;
      ribbons.push(ribbon(left, [y, y + size], middle, [inHead[head], inHead[head] + size], head));
      y += size;
      inHead[head] += size;
    });
  });
  shares.forEach((_, head) => ribbons.push(ribbon(middle + FLOW.head, headSpans[head], right, outputs[head], head)));
  const text = (x, y, anchor, content) => shape("text", { x, y: y + 5, "text-anchor": anchor }, [content]);
  const labels = keys.map(({ label: name }, k) => text(left - 6, total(keySpans[k]) / 2, "end", shortened(name, left)));
  labels.push(text(right + 6, height / 2, "start", shortened(flow.label, width - right)));
  svg.replaceChildren(...ribbons, ...labels);
  at("flow").style.height = `${height}px`;
  drawHeads(buttons, headSpans, middle, namedHead(shares));
}

const shortened = (text, width) => (text.length > width / 9 ? `${text.slice(0, Math.max(3, width / 9 - 1))}…` : text);

function drawHeads(buttons, spans, x, named) { // one button per head, which chooses it in the menu above
  const chosen = at("head").value;
  if (buttons.length !== spans.length) {
    for (const button of buttons) button.remove();
    at("flow").append(...spans.map((_, head) => {
      const button = element("button", { type: "button", textContent: head + 1 });
      button.addEventListener("click", () => {
        at("head").value = at("head").value === `${head}` ? MEAN : head;
        show(["attention", "hand"]);
      });
      return button;
    }));
  }
  [...at("flow").querySelectorAll("button")].forEach((button, head) => {
    button.style.cssText = `left:${x}px;top:${spans[head][0]}px;width:${FLOW.head}px;height:${spans[head][1] - spans[head][0]}px`;
    button.setAttribute("aria-label", `${say("head")} ${head + 1}`);
    button.setAttribute("aria-pressed", chosen === `${head}`);
    button.classList.toggle("chosen", head === named);
  });
  for (const path of at("flow").querySelectorAll(".ribbon")) {
    path.classList.toggle("faded", chosen !== MEAN && path.dataset.head !== chosen);
  }
}

function describeFlow({ keys, shares, label: name }) {
  const head = namedHead(shares);
  const strongest = [...keys].sort((a, b) => b.weights[head] - a.weights[head])[0];
  return say("flow-description", { unit: `\u2068${name}\u2069`, head: head + 1, key: `\u2068${strongest.label}\u2069`,
    weight: strongest.weights[head].toFixed(2), share: percent(shares[head]) });
}

function showFlow() {
  if (sides) drawFlow(view.held);
}
