// Words in the forms that the run has learned, as nmt/text/learned_words.py reads and writes them:
// the forms of a word that the vocabulary has the fewest tokens for. Words in capitals among others
// are read so, too, but not written in capitals again: the page does not align words.

const CAPITALS = "capitals", TITLE = "title", SENTENCE = "sentence", AS_FOUND = ""; // the case of a text
const LONGEST_WORD = 40, LITTLE_WORD = 3; // letters
const TITLE_WORDS = 3, CLEARLY_FEWER = 2, MANY_TOKENS = 10_000;

class LearnedWords {
  // rules: {source, target: codes of languages, unspaced: letters of scripts that have no spaces}
  constructor(tokenizer, { source, target, unspaced }) {
    Object.assign(this, { tokenizer, source: source || undefined, target: target || undefined });
    const letters = `(?:(?!${unspaced})\\p{L})+`;
    this.word = new RegExp(letters, "gu");
    this.titleWord = new RegExp(`(?<![\\p{L}\\p{N}_'’])${letters}`, "gu");
    this.numbers = new Map(); // of tokens, by word
    this.withAccents = new Map(); // words, by the same without accents
    const words = tokenizer.model.pieces.filter((piece) => piece[0] !== "<");
    this.hasCapitals = words.some((piece) => piece !== piece.toLowerCase());
    for (const piece of words) {
      const word = piece.slice(1);
      if (piece[0] !== WORD_START || !/[^\x00-\x7f]/.test(word) || !new RegExp(`^${letters}$`, "u").test(word)) continue;
      const bare = this.bare(word);
      this.withAccents.set(bare, [...this.withAccents.get(bare) ?? [], word]);
    }
  }

  small(word) {
    return word.replaceAll("\u0130", "i").toLocaleLowerCase(this.source);
  }

  capitalized(word, language) {
    const [first = "", ...rest] = word;
    return first.toLocaleUpperCase(language) + rest.join("");
  }

  bare(word) {
    return this.small(word).normalize("NFD").replace(/\p{Mn}/gu, "");
  }

  tokens(word) {
    if (!this.numbers.has(word)) {
      const ids = this.tokenizer.encode(word);
      this.numbers.set(word, ids.includes(UNKNOWN) ? MANY_TOKENS : ids.length - 2);
    }
    return this.numbers.get(word);
  }

  read(text) { // -> {text, wanted: the case of its translation}
    if (text.toLowerCase() === text.toUpperCase()) return { text, wanted: AS_FOUND };
    const found = [...text.matchAll(this.word)].filter(([word]) => word.length <= LONGEST_WORD);
    const words = found.map(([word]) => word);
    let wanted = caseOf(words), number = 0;
    if (wanted === AS_FOUND && this.isShortTitle(text, found)) wanted = TITLE;
    const isUniform = wanted !== AS_FOUND || text === this.small(text) || !this.hasCapitals;
    const fewer = /[.!?…]$/.test(text) ? CLEARLY_FEWER : 1; // of a label, the first word is a noun
    const isBare = words.every((word) => this.small(word) === this.bare(word));
    const read = text.replace(this.word, (word) => {
      if (word.length > LONGEST_WORD) return word;
      const beginsText = number === 0 && words.length > 1;
      const accented = isBare ? this.withAccents.get(this.bare(word)) ?? [] : [];
      const form = isUniform ? this.usualForm(word, beginsText, accented)
        : this.formAmongOthers(word, beginsText ? fewer : MANY_TOKENS, accented);
      number += 1;
      return form;
    });
    if (wanted === AS_FOUND && found.length && /^\p{Lu}/u.test(words[0]) && beginsWith(text, found[0].index)) wanted = SENTENCE;
    return { text: read, wanted: read === text && wanted !== SENTENCE ? AS_FOUND : wanted };
  }

  isShortTitle(text, found) { // two words with capitals, such as "Boa Noite", and no name
    const [[first], [word]] = found.length === 2 ? found : [[""], [""]];
    if (!/^\p{Lu}/u.test(first) || !/^\p{Lu}/u.test(word) || isUpper(word)) return false;
    const isNext = text.slice(found[0].index + first.length, found[1].index) === " ";
    return isNext && this.nearest([word, this.small(word)]) !== word;
  }

  usualForm(word, beginsText, accented) {
    const forms = [this.small(word), this.capitalized(this.small(word), this.source)];
    if (beginsText && /^\p{Lu}/u.test(word)) forms.reverse();
    return this.nearest([...forms, word, ...accented]);
  }

  formAmongOthers(word, fewer, accented) { // in small letters if it has so many fewer tokens then
    if (this.tokens(word) === 1) return word;
    const small = this.small(word);
    let forms = accented;
    if (/^\p{Lu}/u.test(word)) forms = forms.map((form) => this.capitalized(form, this.source));
    if (isUpper(word) && word.length > 1) forms = [small, this.capitalized(small, this.source), ...forms];
    else if (this.tokens(word) - this.tokens(small) >= fewer) forms = [small, ...forms];
    return this.nearest([word, ...forms]);
  }

  nearest([first, ...others]) { // the first form, unless another has clearly fewer tokens or is an entry
    let form = first;
    for (const other of others) {
      if (other.length !== first.length) continue;
      if (form === first || this.tokens(other) < this.tokens(form)) form = other;
    }
    const fewer = this.tokens(first) - this.tokens(form);
    return fewer >= CLEARLY_FEWER || (fewer > 0 && this.tokens(form) === 1) ? form : first;
  }

  write(text, wanted) { // a translation in the case of its source
    if (wanted === CAPITALS) return text.toLocaleUpperCase(this.target);
    if (wanted === TITLE) return text.replace(this.titleWord, (word) => this.capitalized(word, this.target));
    if (wanted !== SENTENCE) return text;
    const first = text.search(this.word);
    if (first < 0 || !beginsWith(text, first)) return text;
    return text.slice(0, first) + this.capitalized(text.slice(first), this.target);
  }
}

const beginsWith = (text, place) => !/[\p{L}\p{N}]/u.test(text.slice(0, place)); // nothing but signs before it
const isUpper = (word) => word === word.toUpperCase() && word !== word.toLowerCase();

function caseOf(all) {
  const words = all.filter((word) => word.toLowerCase() !== word.toUpperCase());
  const begun = words.filter((word) => /^\p{Lu}/u.test(word));
  if (!begun.length) return AS_FOUND;
  if (words.every(isUpper) && words.reduce((sum, word) => sum + word.length, 0) > 1) return CAPITALS;
  if (words.length === 1) return SENTENCE;
  const isTitle = words.every((word) => word.length <= LITTLE_WORD || /^\p{Lu}/u.test(word) && !isUpper(word));
  return isTitle && begun.length >= TITLE_WORDS ? TITLE : AS_FOUND;
}
