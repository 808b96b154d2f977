// What must not change in translation, as in nmt/text/protected.py: numbers, addresses, placeholders
// and tags become symbols, ⟦0⟧ to ⟦9⟧, which the network copies; `restore` puts the originals back.

const SYMBOL = /⟦([0-9])⟧/, SYMBOLS = 10;
const lastCharacter = (text) => Array.from(text).at(-1) ?? "";

class Protector {
  // rules: of page.py's `protection`; null for a run without symbols, whose text stays as it is
  constructor(rules) {
    this.rules = rules;
    if (!rules) return;
    const atStart = ([source, flags]) => new RegExp(`^(?:${source})`, flags);
    this.kinds = rules.kinds.map(([kind, [source, flags]]) => [kind, new RegExp(source, `g${flags}`)]);
    this.attached = new RegExp(rules.attached[0], "gu");
    this.ended = new RegExp(rules.ended[0], "gu");
    this.tagName = atStart(rules.tag_name);
    this.wordEnd = atStart(rules.word_end);
    this.invisible = new RegExp(rules.invisible[0], "gu");
    this.unprinted = new RegExp(rules.unprinted[0], "gu");
  }

  visible(text) { // as nmt/text/spelling.py
    return text.replace(this.invisible, "").replace(this.unprinted, " ").normalize("NFC").trim();
  }

  spans(text) { // [{start, end, kind, original}] in order; of overlapping ones, the first or longest
    const spans = this.kinds.flatMap(([kind, expression]) => Array.from(text.matchAll(expression), (match) =>
      ({ start: match.index, end: match.index + match[0].length, kind, original: match[0] })));
    spans.sort((a, b) => a.start - b.start || b.end - a.end);
    let end = 0;
    const apart = spans.filter((span) => {
      if (span.start < end || !span.original) return false;
      ({ end } = span);
      return true;
    });
    return apart.filter(({ kind }) => kind !== "language");
  }

  protect(text) { // -> {text, originals}
    if (!this.rules) return { text, originals: [] };
    const visible = this.visible(text), spans = this.spans(visible);
    let result = "", end = 0;
    spans.forEach((span, n) => {
      result += `${visible.slice(end, span.start)}⟦${n % SYMBOLS}⟧`;
      ({ end } = span);
    });
    return { text: result + visible.slice(end), originals: spans.map(({ original }) => original) };
  }

  // A translation with the originals in place of its symbols. source: of `protect`
  restore(text, source) {
    if (!this.rules) return text;
    const waiting = Array.from({ length: SYMBOLS }, (_, number) =>
      source.originals.filter((_, n) => n % SYMBOLS === number));
    const parts = text.split(SYMBOL); // text, number of a symbol, text, ...
    const numbers = parts.filter((_, n) => n % 2).map(Number);
    const restored = this.nestTags(numbers.map((number) => waiting[number].shift() ?? ""), source.originals);
    const [attached, ended] = [this.attached, this.ended].map((expression) =>
      new Set(Array.from(source.text.matchAll(expression), (match) => Number(match[1]))));
    const isApart = (number) => source.text.includes(`⟦${number}⟧`) && !attached.has(number);
    let result = parts[0], last = lastCharacter(result);
    restored.forEach((original, n) => {
      const needsSpace = isApart(numbers[n]) && original && this.wordEnd.test(last) && !this.tagName.test(original);
      const following = parts[2 * n + 2], endsInLetters = /\p{L}/u.test(original) && /[\p{L}\p{N}]$/u.test(original);
      const isApartAfter = ended.has(numbers[n]) && endsInLetters && /^\p{L}/u.test(following);
      const added = original + (isApartAfter ? " " : "") + following;
      result += (needsSpace ? " " : "") + added;
      last = lastCharacter(added) || last;
    });
    return result;
  }

  nestTags(restored, originals) { // with its tags in the order of the source if they are not nested as there
    const isTag = (original) => this.tagName.test(original), tags = originals.filter(isTag);
    const translated = restored.filter(isTag);
    if (tags.length !== translated.length || this.openTags(translated) === this.openTags(tags)) return restored;
    return restored.map((original) => (isTag(original) ? tags.shift() : original));
  }

  // The names that tags close before they open them, and those that they leave open, as one text;
  // null if an element ends within another one that is still open.
  openTags(tags) {
    const closed = [], opened = [];
    for (const tag of tags) {
      const [, isEnd, name, isEmpty] = tag.match(this.tagName);
      if (!isEnd) {
        if (!isEmpty && !this.rules.void_elements.includes(name.toLowerCase())) opened.push(name);
      } else if (opened.at(-1) === name) opened.pop();
      else if (opened.length) return null;
      else closed.push(name);
    }
    return JSON.stringify([closed, opened]);
  }
}
