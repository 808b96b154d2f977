// How a translation is chosen from logits: greedy search, sampling, tokens that are forced.

const EXTRA_TOKENS = 50; // of a translation, at most, beyond the tokens of its source (paper 6.1)
const GREEDY = { temperature: 0, topK: 0, topP: 1, random: Math.random };

function allowedLogits(logits, never) { // never: ids that are not chosen
  const allowed = Float32Array.from(logits);
  for (const id of never) allowed[id] = -Infinity;
  return allowed;
}

function highest(values) { // the first of equal ones, as TensorFlow's argmax
  let best = 0;
  for (let n = 1; n < values.length; n++) if (values[n] > values[best]) best = n;
  return best;
}

// The `number` likeliest tokens, the best first: [{id, probability}].
function likeliest(probabilities, number) {
  const best = [];
  probabilities.forEach((probability, id) => {
    if (best.length === number && probability <= best.at(-1).probability) return;
    let place = best.length;
    while (place && best[place - 1].probability < probability) place--;
    best.splice(place, 0, { id, probability });
    if (best.length > number) best.pop();
  });
  return best;
}

// As nmt/decoding/sampling.py: the top k, then the nucleus of top p, then one at random.
function draw(logits, { temperature, topK, topP, random }) {
  if (!temperature) return highest(logits);
  const scaled = softmax(logits.map((logit) => logit / temperature));
  let tokens = [...scaled.keys()].filter((id) => scaled[id] > 0).sort((a, b) => scaled[b] - scaled[a] || a - b);
  if (topK) tokens = tokens.slice(0, topK);
  const total = tokens.reduce((sum, id) => sum + scaled[id], 0);
  const nucleus = [];
  let before = 0;
  for (const id of tokens) {
    if (before >= topP) break;
    nucleus.push(id);
    before += scaled[id] / total;
  }
  let place = random() * before;
  for (const id of nucleus) {
    place -= scaled[id] / total;
    if (place < 0) return id;
  }
  return nucleus.at(-1);
}

// One translation, token by token. `forced`: ids that it begins with.
class Translation {
  constructor(network, source, what = AS_TRAINED, forced = [], how = GREEDY) {
    Object.assign(this, { network, source, what, forced, how });
    this.target = [START]; // then the tokens
    this.steps = []; // of each generated token: {logits, probabilities}
    this.encoded = this.state = null; // computed by `prepare`
    this.done = source.length <= 2; // START, END: nothing to translate
  }

  *prepare() { // runs the encoder, and the decoder's projections of its output
    this.encoded = yield* this.network.encode(this.source, this.what);
    this.state = yield* this.network.start(this.encoded);
  }

  *step() { // generates one token
    if (!this.state) yield* this.prepare();
    if (!this.done) this.append(yield* this.nextLogits());
  }

  *translate() { // generates all tokens
    do yield* this.step(); while (!this.done);
  }

  finish() {
    complete(this.translate());
    return this;
  }

  *nextLogits() {
    if (this.what.lookAhead) {
      const [logits] = yield* this.network.decode(this.state, [this.target.at(-1)], this.what);
      return logits;
    }
    // Without the mask, earlier positions see later ones: all are computed again.
    this.state = yield* this.network.start(this.encoded);
    return (yield* this.network.decode(this.state, this.target, this.what)).at(-1);
  }

  append(logits) {
    const forced = this.forced[this.target.length - 1], limit = this.source.length + EXTRA_TOKENS;
    const id = forced ?? draw(allowedLogits(logits, [PAD, START]), this.how);
    this.steps.push({ logits, probabilities: softmax(logits) });
    this.target.push(id);
    this.done = id === END || this.target.length > Math.max(limit, this.forced.length + 1);
  }

  words() { // ids of the translation
    return this.target.slice(1);
  }

  // The natural logarithm of the probability of the target.
  logProbability() {
    return this.steps.reduce((sum, { probabilities }, n) =>
      sum + Math.log(probabilities[this.target[n + 1]]), 0);
  }

  // Weights [head][query][key] of a kind ("encoder", "decoder", "cross") and a layer, from 1.
  attention(kind, layer) {
    const traces = this.traces(kind, layer), heads = this.network.sizes.num_heads;
    const keys = this.keys(kind).length;
    return Array.from({ length: heads }, (_, head) => traces.map((trace) =>
      Array.from({ length: keys }, (_, k) => trace.weights?.[head]?.[k] ?? 0)));
  }

  traces(kind, layer) { // of the query positions of an attention; [] if it is switched off
    const trace = (kind === "encoder" ? this.encoded : this.state).layers[layer - 1];
    const traces = (trace ? trace[kind === "cross" ? "cross" : "self"] : []) ?? [];
    return kind === "encoder" ? traces : traces.slice(0, this.steps.length);
  }

  queries(kind) { // ids
    if (kind === "encoder") return this.encoded.ids;
    return kind === "cross" ? this.target.slice(1) : this.state.ids.slice(0, this.steps.length);
  }

  keys(kind) {
    return kind === "decoder" ? this.state.ids.slice(0, this.steps.length) : this.encoded.ids;
  }
}
