// What the page is drawn with. Text is set as text, never as HTML: a sentence may hold markup.

const CONTINUES = "\u00b7"; // before a token that does not begin a word
const FAINTEST = 0.02; // weight of lines that are drawn while no token is chosen

function element(name, properties = {}, ...children) {
  const result = Object.assign(document.createElement(name), properties);
  result.append(...children);
  return result;
}

function figure(number) { // four decimals, or scientific where they would say nothing
  if (!Number.isFinite(number)) return String(number);
  const size = Math.abs(number);
  if (size && (size < 5e-5 || size >= 1e5)) return number.toExponential(2).replace("-", "−");
  return number.toFixed(4).replace("-", "−");
}

// The number in a field, within its bounds; the field's first one where it holds none.
function fieldNumber(id, round = Math.round) {
  const { value, min, max, defaultValue } = at(id), number = round(value === "" ? defaultValue : value);
  return Math.min(max === "" ? Infinity : max, Math.max(min, Number.isFinite(number) ? number : defaultValue));
}

function barred(number) { // a figure with a bar: blue to the right, orange to the left
  const length = 50 * Math.tanh(Math.abs(number)), bar = element("span", { className: "bar" }, element("i"));
  bar.firstChild.style.cssText = number < 0
    ? `right:50%;width:${length}%;background:rgb(var(--against))`
    : `left:50%;width:${length}%;background:rgb(var(--mark))`;
  return element("span", {}, figure(number), bar);
}

function table(heads, rows, chosen = -1) {
  const cells = (name, row) => element("tr", {}, ...row.map((cell) => element(name, {}, cell)));
  const body = rows.map((row) => cells("td", row));
  body[chosen]?.classList.add("chosen");
  return element("table", {}, element("thead", {}, cells("th", heads)), element("tbody", {}, ...body));
}

function scrolling(child, label) {
  const box = element("div", { className: "scroll", tabIndex: 0 }, child);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  return box;
}

function heatmap(canvas, rows, width = 128) { // one row per vector; at most `width` dimensions
  const columns = Math.min(rows[0].length, width), context = canvas.getContext("2d");
  canvas.width = columns;
  canvas.height = rows.length;
  canvas.style.height = `${Math.min(320, Math.max(40, 9 * rows.length))}px`;
  const style = getComputedStyle(document.documentElement), image = context.createImageData(columns, rows.length);
  const [blue, orange] = ["--mark", "--against"].map((name) => style.getPropertyValue(name).split(",").map(Number));
  const largest = Math.max(1e-9, ...rows.map((row) => row.reduce((a, b) => Math.max(a, Math.abs(b)), 0)));
  const pixels = image.data;
  rows.forEach((row, y) => {
    for (let x = 0, place = 4 * y * columns; x < columns; x++, place += 4) {
      const color = row[x] < 0 ? orange : blue;
      for (let channel = 0; channel < 3; channel++) pixels[place + channel] = color[channel];
      pixels[place + 3] = (255 * Math.abs(row[x])) / largest;
    }
  });
  context.putImageData(image, 0, 0);
}

const isSpecial = (token) => /^<.+>$/.test(token);
const standsApart = (token) => isSpecial(token) || /^[\p{P}\p{S}]+$/u.test(token);
const beginsWord = (token) => token.startsWith(WORD_START) || standsApart(token);
const bare = (token) => token.replaceAll(WORD_START, " ").trim() || "\u2423";
const tokenLabel = (token) => (beginsWord(token) ? bare(token) : CONTINUES + token);

function unitsOf(tokens, kind) { // [{tokens: [number], label}]: words, or single tokens
  if (kind === "tokens") return tokens.map((token, n) => ({ tokens: [n], label: tokenLabel(token) }));
  const words = [];
  tokens.forEach((token, n) => {
    const last = words.at(-1);
    if (!last || beginsWord(token) || last.closed) {
      words.push({ tokens: [n], label: bare(token), closed: standsApart(token) });
    } else {
      last.tokens.push(n);
      last.label += bare(token);
    }
  });
  return words;
}

// Weights [query unit][key unit] of the chosen heads: summed over keys, averaged over queries, heads.
function unitWeights(heads, queries, keys) {
  return queries.map((query) => keys.map((key) => {
    let sum = 0;
    for (const weights of heads) for (const q of query.tokens) for (const k of key.tokens) sum += weights[q][k];
    return sum / heads.length / query.tokens.length;
  }));
}

// The lines between two columns of buttons. chosen: null, or {side: "queries" | "keys", number}.
function drawLines(view, weights, chosen) {
  const svg = view.querySelector("svg"), box = svg.getBoundingClientRect();
  const boxes = (id) => [...view.querySelectorAll(`#${id} button`)].map((one) => one.getBoundingClientRect());
  const left = boxes("queries"), right = boxes("keys"), lines = [];
  weights.forEach((row, q) => row.forEach((weight, k) => {
    if (chosen ? chosen.number !== (chosen.side === "queries" ? q : k) : weight < FAINTEST) return;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const ends = {
      x1: left[q].right - box.left, y1: (left[q].top + left[q].bottom) / 2 - box.top,
      x2: right[k].left - box.left, y2: (right[k].top + right[k].bottom) / 2 - box.top,
    };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
    line.setAttribute("stroke-opacity", weight);
    line.dataset.query = q;
    line.dataset.key = k;
    lines.push(line);
  }));
  svg.replaceChildren(...lines);
}
