// Lines to sentences and back, as nmt/text/sentences.py: a model trained on sentences loses text of
// longer ones. The browser's own rules, those of Unicode, say where a sentence ends, but for the
// words after which the program ends none.

const WIDE = /[\u3000-\u303f\uff00-\uffef\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]$/u; // no space follows
const MAX_WORD = 40; // characters around the end of a sentence that matter
const CLOSING = /[»”’")\]]+$/;

class Sentences {
  constructor(rules) { // of html_file.py's `sentence_rules`
    this.rules = rules;
    this.segmenter = Intl.Segmenter ? new Intl.Segmenter(rules.language, { granularity: "sentence" }) : null;
    this.words = new Set(rules.words);
    [this.lastWord, this.quoted] = ["last_word", "quoted"].map((name) => new RegExp(...rules[name]));
    [this.hiragana, this.said, this.unspaced, this.between] = ["hiragana", "said", "unspaced", "between"].map((name) =>
      new RegExp(`^(?:${rules[name][0]})`, rules[name][1]));
    this.months = new Set(["long", "short"].flatMap((month) => Array.from({ length: 12 }, (_, n) =>
      new Intl.DateTimeFormat(rules.language, { month, day: "numeric" }).formatToParts(new Date(2000, n))
        .find(({ type }) => type === "month").value.toLowerCase().replace(".", ""))));
  }

  split(line) { // -> [{text, space (after it)}], at least one
    const text = line.trim();
    if (!this.segmenter) return [{ text, space: "" }]; // in an old browser, a line is left whole
    const parts = [];
    let begin = 0;
    for (const { index, segment } of this.segmenter.segment(text)) {
      let end = index + segment.length;
      end += text.slice(end).match(this.between)[0].length; // closing quotes belong to the sentence before
      if (end <= begin || (end < text.length && this.continues(text, begin, end))) continue;
      const sentence = text.slice(begin, end).trimEnd();
      parts.push({ text: sentence, space: text.slice(begin + sentence.length, end) });
      begin = end;
    }
    return parts.length ? parts : [{ text: "", space: "" }];
  }

  continues(text, begin, end) { // whether the sentence from `begin` goes on at `end`
    const before = text.slice(Math.max(begin, end - MAX_WORD), end), after = text.slice(end, end + MAX_WORD);
    const word = before.match(this.lastWord)?.[1];
    if (/^\p{Ll}/u.test(after) || (word !== undefined && this.isAbbreviation(word, text, after))) return true;
    if (!this.quoted.test(before) || !/^\p{L}/u.test(after)) return false;
    return !this.unspaced.test(after) || this.hiragana.test(after) || this.said.test(after);
  }

  isAbbreviation(word, text, after) { // whether a word with a period ends no sentence
    if (this.words.has(word)) return true;
    if (/^\p{Nd}+$/u.test(word)) return this.months.has(after.match(/^[\p{L}\p{M}]*/u)[0].toLowerCase()); // 3. Oktober
    const hasCase = word.toLowerCase() !== word.toUpperCase();
    if (!hasCase && /^(?:\p{L}\.)*\p{L}$/u.test(word.replace(/^\u0648|\u0640/g, ""))) return true; // initials
    return text.includes(this.rules.danda) && /[^\0-\x7f]/.test(word); // where a danda ends sentences
  }
}

// Translated sentences, [{text, space}], as one line. Where there was no space, as in Chinese, there
// is one, unless the translation is written without spaces, too.
function joinSentences(sentences) {
  let line = "";
  for (const { text, space } of sentences) {
    const needsSpace = line && text && !/\s$/.test(line) && !WIDE.test(line.replace(CLOSING, ""));
    line += (needsSpace ? " " : "") + text + space;
  }
  return line;
}
