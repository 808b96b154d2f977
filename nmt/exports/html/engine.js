// Translates lines, sentence by sentence. It works in a worker, or in the page where there is none.

const MAX_REMEMBERED = 20_000; // sentences whose translations are kept

class Engine {
  constructor(post) { // post: is called with each message for the page
    this.post = post;
    this.job = 0; // number of the latest one
    this.remembered = new Map(); // translations by sentence
    this.network = null; // until the weights are read
  }

  // {data, weights} of the page, or {job, lines: [{number, text}], tag}; a job ends those before it
  receive(message) {
    const work = message.weights === undefined ? this.start(message) : this.load(message);
    work.catch((error) => this.post({ failure: String(error) }));
  }

  async load({ data, weights }) {
    this.tokenizer = new Tokenizer(data.vocabulary);
    this.sentences = new Sentences(data.sentences);
    this.words = new LearnedWords(this.tokenizer, data.words);
    this.maxTokens = data.max_tokens;
    const tensors = await inSlices(readTensors(data.tensors, weights));
    this.network = new Network(data.sizes, tensors);
    this.post({ isReady: true });
    if (this.waiting) await this.start(this.waiting);
  }

  async start(message) {
    this.job = message.job;
    if (this.network) await inSlices(this.lines(message), () => this.job === message.job);
    else this.waiting = message;
  }

  *lines({ job, lines, tag }) {
    const split = [];
    for (const { number, text } of lines) {
      split.push({ number, sentences: this.sentences.split(text) });
      yield;
    }
    const total = split.reduce((sum, { sentences }) => sum + sentences.length, 0);
    let done = 0; // sentences
    for (const { number, sentences } of split) {
      const results = [];
      let cuts = 0; // sentences of the line that are longer than may be
      for (const { text, space } of sentences) {
        const result = yield* this.sentence(tag, text);
        cuts += result.isCut;
        done += 1;
        results.push({ text: result.text, space });
        this.post({ job, number, text: joinSentences(results), isWhole: results.length === sentences.length,
          done, total, cuts });
        yield;
      }
    }
  }

  *sentence(tag, text) { // -> {text, isCut: whether the end of the source was left out}
    if (!/\p{L}/u.test(text)) return { text, isCut: false }; // digits and signs alone
    const { text: read, wanted } = this.words.read(this.tokenizer.trimmed(text));
    const source = tag ? `${tag} ${read}` : read;
    if (!this.remembered.has(source)) {
      const result = yield* this.translate(source);
      if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
      this.remembered.set(source, result);
    }
    const { text: written, isCut } = this.remembered.get(source);
    return { text: this.words.write(written, wanted), isCut };
  }

  *translate(source) {
    const all = this.tokenizer.encode(source), ids = all.slice(0, this.maxTokens);
    const translation = new Translation(this.network, ids);
    yield* translation.translate();
    return { text: this.tokenizer.decode(translation.words()), isCut: all.length > ids.length };
  }
}
