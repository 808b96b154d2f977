// Text to token ids and back, as nmt/text/tokenizer.py does: the normal form, then SentencePiece's
// BPE with bytes for characters that are not in the vocabulary, or its vocabulary of words.

const WORD_START = "\u2581"; // SentencePiece's mark of a space
const PAD = 0, UNKNOWN = 1, START = 2, END = 3;
const NORMAL = 1, CONTROL = 3, USER_DEFINED = 4, UNUSED = 5, BYTE = 6; // types of pieces

class Tokenizer {
  // model: {kind: "bpe" | "word", pieces: [text], scores: [number], types: [number], prefix: whether
  // a space is put before the text, invisible, spaces, blank: sources of regular expressions}
  constructor(model) {
    this.model = model;
    this.ids = new Map();
    this.symbols = []; // pieces that are never split
    this.bytes = new Map(); // byte -> id
    model.pieces.forEach((piece, id) => {
      const type = model.types[id];
      if (type === BYTE) this.bytes.set(parseInt(piece.slice(3, 5), 16), id);
      else if (type === USER_DEFINED) this.symbols.push(piece);
      if (type === NORMAL || type === USER_DEFINED || type === UNUSED) this.ids.set(piece, id);
    });
    this.symbols.sort((a, b) => b.length - a.length); // the longest is matched
    this.invisible = new RegExp(model.invisible, "gu");
    this.spaces = new RegExp(model.spaces, "gu");
    this.blank = new RegExp(`^${model.blank}$`, "u");
  }

  normal(text) { // as nmt/text/spelling.py
    text = text.toWellFormed ? text.toWellFormed() : text;
    return text.replace(this.invisible, "").replace(this.spaces, " ").normalize("NFC");
  }

  trimmed(text) {
    return this.blank.test(text) ? "" : this.normal(text).replace(/^ +| +$/g, "");
  }

  encode(text) { // -> ids, START first and END last
    let normal = this.trimmed(text);
    if (this.model.kind === "word") normal = normal.replace(/ +/g, " ");
    if (!normal) return [START, END];
    const escaped = ((this.model.prefix ? " " : "") + normal).replaceAll(" ", WORD_START);
    const ids = this.model.kind === "word" ? this.encodeWords(escaped) : this.encodePieces(escaped);
    return [START, ...ids, END];
  }

  encodeWords(text) {
    const ids = [];
    for (const word of text.match(/\u2581?[^\u2581]*/g).filter((part) => part)) {
      const id = this.ids.get(word) ?? UNKNOWN;
      if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id); // a run of unknown words is one
    }
    return ids;
  }

  symbolAt(text, place) {
    return this.symbols.find((symbol) => text.startsWith(symbol, place));
  }

  // Byte-pair encoding: of all neighbours that make a piece, the pair with the highest score is
  // joined, the leftmost of equal ones, until no pair makes a piece.
  encodePieces(text) {
    const parts = []; // {text, fixed, before, after (indices of neighbours)}
    for (let place = 0; place < text.length;) {
      const symbol = this.symbolAt(text, place);
      const part = symbol ?? String.fromCodePoint(text.codePointAt(place));
      parts.push({ text: part, fixed: symbol !== undefined });
      place += part.length;
    }
    parts.forEach((part, n) => { part.before = n - 1; part.after = n + 1 < parts.length ? n + 1 : -1; });
    const pairs = []; // a heap of {score, left, right, length}, the best first
    const halves = new Map(); // an unused piece -> the two it was joined from
    const better = (a, b) => a.score > b.score || (a.score === b.score && a.left < b.left);
    const add = (left, right) => {
      if (left < 0 || right < 0 || parts[left].fixed || parts[right].fixed) return;
      const joined = parts[left].text + parts[right].text, id = this.ids.get(joined);
      if (id === undefined) return;
      if (this.model.types[id] === UNUSED) halves.set(joined, [parts[left].text, parts[right].text]);
      pushHeap(pairs, { score: this.model.scores[id], left, right, length: joined.length }, better);
    };
    for (let n = 1; n < parts.length; n++) add(n - 1, n);
    while (pairs.length) {
      const { left, right, length } = popHeap(pairs, better);
      const first = parts[left], second = parts[right];
      if (!first.text || !second.text || first.text.length + second.text.length !== length) continue;
      first.text += second.text;
      first.after = second.after;
      if (second.after >= 0) parts[second.after].before = left;
      second.text = "";
      add(first.before, left);
      add(left, first.after);
    }
    const ids = [];
    const emit = (part) => {
      const id = this.ids.get(part);
      if (id !== undefined && this.model.types[id] === UNUSED && halves.has(part)) {
        halves.get(part).forEach(emit);
      } else if (id !== undefined) ids.push(id);
      else if (this.bytes.size) {
        for (const byte of new TextEncoder().encode(part)) ids.push(this.bytes.get(byte));
      } else if (ids.at(-1) !== UNKNOWN) ids.push(UNKNOWN);
    };
    for (const part of parts) if (part.text) emit(part.text);
    return ids;
  }

  piece(id) {
    return this.model.pieces[id];
  }

  decode(ids) { // -> text, without START, END and PAD
    let text = "", bytes = [], isFirst = true; // whether no token has given text yet
    const flush = () => {
      text += new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
      bytes = [];
    };
    for (const id of ids) {
      const type = this.model.types[id];
      if (type === BYTE) bytes.push(parseInt(this.model.pieces[id].slice(3, 5), 16));
      else {
        flush();
        const piece = this.model.pieces[id];
        if (id === UNKNOWN) text += " \u2047 ";
        else if (type !== CONTROL) text += isFirst && this.model.prefix ? piece.replace(/^\u2581/, "") : piece;
      }
      if (type !== CONTROL) isFirst = false;
    }
    flush();
    text = text.replaceAll(WORD_START, " ");
    return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, " "); // no ends of lines
  }
}

function pushHeap(heap, item, better) {
  let place = heap.length;
  heap.push(item);
  while (place) {
    const parent = (place - 1) >> 1;
    if (!better(item, heap[parent])) break;
    heap[place] = heap[parent];
    place = parent;
  }
  heap[place] = item;
}

function popHeap(heap, better) {
  const best = heap[0], item = heap.pop();
  if (!heap.length) return best;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && better(heap[child + 1], heap[child])) child++;
    if (!better(heap[child], item)) break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = item;
  return best;
}
