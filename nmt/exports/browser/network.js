// The Transformer of transformer_model.py, with every number in reach: each layer leaves a trace.
//
// A vector is a Float32Array; `rows` are vectors, one per position. Weights of a dense layer are
// stored (out, in), so that each output is one dot product. What computes many rows is a generator
// that yields after each of them, so that the page can draw and listen in between.

const MASKED = -1e9;

// What if? Each switch changes the calculation; these values are the paper's.
const AS_TRAINED = {
  positions: true, scaling: true, lookAhead: true, paddingTokens: 0, paddingMask: true, cross: true,
  residual: true, withoutHeads: [], withoutLayers: [], // "encoder.1.2": layer 1's head 2; "encoder.1"
};

const CHUNK = 1 << 18; // characters of base64 that are read before others may work

// The numbers of page.py's encode_weights: of each, the upper 24 bits of a float32, in 4 characters.
// tensors: [{name, shape}], in the order of the weights; -> {name: {shape, values}}
function* readTensors(tensors, base64) {
  const numbers = new Float32Array(base64.length / 4), bits = new Uint32Array(numbers.buffer);
  for (let first = 0; first < base64.length; first += CHUNK) {
    const octets = atob(base64.slice(first, first + CHUNK));
    for (let n = first / 4, place = 0; place < octets.length; n++, place += 3) {
      bits[n] = (octets.charCodeAt(place) << 8) | (octets.charCodeAt(place + 1) << 16)
        | (octets.charCodeAt(place + 2) << 24);
    }
    yield;
  }
  const result = {};
  let place = 0;
  for (const { name, shape } of tensors) {
    const size = shape.reduce((a, b) => a * b, 1);
    result[name] = { shape, values: numbers.subarray(place, place + size) };
    place += size;
  }
  return result;
}

function dot(a, b, length, offsetA = 0, offsetB = 0) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0, n = 0;
  for (; n + 3 < length; n += 4) {
    s0 += a[offsetA + n] * b[offsetB + n];
    s1 += a[offsetA + n + 1] * b[offsetB + n + 1];
    s2 += a[offsetA + n + 2] * b[offsetB + n + 2];
    s3 += a[offsetA + n + 3] * b[offsetB + n + 3];
  }
  for (; n < length; n++) s0 += a[offsetA + n] * b[offsetB + n];
  return s0 + s1 + s2 + s3;
}

// Of the feed-forward networks, by Keras's names.
const ACTIVATIONS = { relu: (x) => Math.max(0, x), swish: (x) => x / (1 + Math.exp(-x)) };

const add = (a, b) => a.map((value, n) => value + b[n]);
const norm = (x) => Math.sqrt(dot(x, x, x.length));

function softmax(logits) {
  let highest = -Infinity, sum = 0;
  for (const logit of logits) highest = Math.max(highest, logit);
  const weights = Float32Array.from(logits, (logit) => Math.exp(logit - highest));
  for (const weight of weights) sum += weight;
  return weights.map((weight) => weight / sum);
}

function positionalEncoding(position, width) { // sine on even dimensions, cosine on odd ones
  return Float32Array.from({ length: width }, (_, i) => {
    const angle = position / 10000 ** ((2 * (i >> 1)) / width);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

function complete(steps) { // runs a generator to its end -> what it returns
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function* perRow(rows, compute) { // -> compute(row, number) of each row
  const results = [];
  for (const [number, row] of rows.entries()) {
    results.push(compute(row, number));
    yield;
  }
  return results;
}

class Network {
  constructor(sizes, tensors) {
    this.sizes = sizes; // num_layers (of the encoder), decoder_layers, d_model, num_heads, pre_norm, ...
    this.tensors = { "decoder.embedding": tensors["encoder.embedding"], ...tensors }; // shared if tied
    this.depth = sizes.d_model / sizes.num_heads; // d_k
  }

  dense(name, x) { // -> x W + b
    const { shape: [units, width], values } = this.tensors[`${name}.kernel`];
    const bias = this.tensors[`${name}.bias`], output = new Float32Array(units);
    for (let n = 0; n < units; n++) {
      output[n] = dot(values, x, width, n * width) + (bias ? bias.values[n] : 0);
    }
    return output;
  }

  normalize(name, x) { // layer normalization
    const gamma = this.tensors[`${name}.gamma`].values, beta = this.tensors[`${name}.beta`].values;
    let mean = 0, variance = 0;
    for (const value of x) mean += value / x.length;
    for (const value of x) variance += (value - mean) ** 2 / x.length;
    const deviation = Math.sqrt(variance + this.sizes.norm_epsilon);
    return x.map((value, n) => ((value - mean) / deviation) * gamma[n] + beta[n]);
  }

  embed(stack, ids, what, first = 0) { // -> sqrt(D) times the embeddings, plus positions
    const width = this.sizes.d_model, { values } = this.tensors[`${stack}.embedding`];
    return ids.map((id, n) => {
      const vector = values.slice(id * width, (id + 1) * width).map((value) => value * Math.sqrt(width));
      return what.positions ? add(vector, positionalEncoding(first + n, width)) : vector;
    });
  }

  *project(name, rows) { // -> keys and values of rows
    return {
      keys: yield* perRow(rows, (row) => this.dense(`${name}.wk`, row)),
      values: yield* perRow(rows, (row) => this.dense(`${name}.wv`, row)),
    };
  }

  // The products of one head with all keys, scaled and masked: what softmax is given.
  scores(q, keys, head, masked, what) {
    const from = head * this.depth, scale = what.scaling ? Math.sqrt(this.depth) : 1;
    return Float32Array.from(keys, (key, k) =>
      dot(q, key, this.depth, from, from) / scale + (masked(k) ? MASKED : 0));
  }

  // Multi-head attention of one query row. withoutHead: whether a head (from 0) is switched off.
  attend(name, row, { keys, values }, masked, what, withoutHead) {
    const q = this.dense(`${name}.wq`, row), heads = new Float32Array(this.sizes.d_model), weights = [];
    for (let head = 0; head < this.sizes.num_heads; head++) {
      const from = head * this.depth;
      weights.push(softmax(this.scores(q, keys, head, masked, what)));
      if (withoutHead(head)) continue; // its output stays 0
      weights[head].forEach((weight, k) => {
        for (let n = from; n < from + this.depth; n++) heads[n] += weight * values[k][n];
      });
    }
    return { q, weights, heads, masked: keys.map((_, k) => masked(k)),
      output: this.dense(`${name}.dense`, heads) };
  }

  feedForward(name, row) {
    const hidden = this.dense(`${name}.first`, row).map(ACTIVATIONS[this.sizes.activation]);
    return { hidden, output: this.dense(`${name}.second`, hidden) };
  }

  // One sub-layer in a residual connection: pre-norm normalizes its input, post-norm the sum.
  sublayer(normName, x, compute, what) {
    const pre = this.sizes.pre_norm, input = pre ? this.normalize(normName, x) : x;
    const trace = compute(input);
    const sum = what.residual ? add(x, trace.output) : trace.output;
    return { ...trace, input, stream: pre ? sum : this.normalize(normName, sum) };
  }

  // Appends rows to a cache of keys and values, then lets each attend. -> traces, one per row
  *selfAttention(stack, layer, rows, cache, masked, what) {
    const name = `${stack}.${layer}.self`, normName = `${stack}.${layer}.norm1`, first = cache.keys.length;
    const inputs = rows.map((row) => (this.sizes.pre_norm ? this.normalize(normName, row) : row));
    const { keys, values } = yield* this.project(name, inputs);
    cache.keys.push(...keys);
    cache.values.push(...values);
    const off = (head) => what.withoutHeads.includes(`${stack}.${layer}.${head + 1}`);
    return yield* perRow(rows, (row, n) => this.sublayer(normName, row, (input) =>
      this.attend(name, input, cache, (k) => masked(first + n, k), what, off), what));
  }

  // -> {ids, layers: [{self: [trace], ffn: [trace], keys, values}], output: [row]}
  *encode(ids, what = AS_TRAINED) {
    ids = [...ids, ...Array(what.paddingTokens).fill(PAD)];
    let rows = this.embed("encoder", ids, what);
    const layers = [], embedded = rows, masked = (q, k) => what.paddingMask && ids[k] === PAD;
    for (let layer = 1; layer <= this.sizes.num_layers; layer++) {
      if (what.withoutLayers.includes(`encoder.${layer}`)) { layers.push(null); continue; }
      const cache = { keys: [], values: [] };
      const self = yield* this.selfAttention("encoder", layer, rows, cache, masked, what);
      const ffn = yield* perRow(self, ({ stream }) => this.sublayer(`encoder.${layer}.norm2`, stream,
        (input) => this.feedForward(`encoder.${layer}.ffn`, input), what));
      layers.push({ self, ffn, ...cache });
      rows = ffn.map(({ stream }) => stream);
    }
    const output = this.finish("encoder", rows);
    return { ids, embedded, layers, output, masked: (k) => masked(0, k) };
  }

  finish(stack, rows) {
    return this.sizes.pre_norm ? rows.map((row) => this.normalize(`${stack}.norm`, row)) : rows;
  }

  // The decoder before its first token: caches of keys and values, empty, and those of the source.
  *start(encoded) {
    const layers = [];
    for (let layer = 1; layer <= this.sizes.decoder_layers; layer++) {
      const source = yield* this.project(`decoder.${layer}.cross`, encoded.output);
      layers.push({ self: [], cross: [], ffn: [], keys: [], values: [], source });
    }
    return { encoded, ids: [], embedded: [], output: [], layers };
  }

  // Runs the decoder over further ids of the target, in parallel. -> logits of each of them
  *decode(state, ids, what = AS_TRAINED) {
    let rows = this.embed("decoder", ids, what, state.ids.length);
    const all = [...state.ids, ...ids];
    state.embedded.push(...rows);
    for (const [n, trace] of state.layers.entries()) {
      if (what.withoutLayers.includes(`decoder.${n + 1}`)) continue;
      rows = yield* this.decoderLayer(n + 1, rows, trace, all, state.encoded.masked, what);
    }
    state.ids.push(...ids);
    const output = this.finish("decoder", rows);
    state.output.push(...output);
    return yield* perRow(output, (row) => this.logits(row));
  }

  *decoderLayer(layer, rows, trace, ids, sourceMasked, what) { // -> rows; appends to the trace
    const name = `decoder.${layer}`;
    const masked = (q, k) => (what.lookAhead && k > q) || ids[k] === PAD;
    const self = yield* this.selfAttention("decoder", layer, rows, trace, masked, what);
    const off = (head) => what.withoutHeads.includes(`cross.${layer}.${head + 1}`);
    const attend = (input) => this.attend(`${name}.cross`, input, trace.source, sourceMasked, what, off);
    const cross = yield* perRow(self, ({ stream }) =>
      (what.cross ? this.sublayer(`${name}.norm2`, stream, attend, what) : { stream }));
    const ffn = yield* perRow(cross, ({ stream }) => this.sublayer(`${name}.norm3`, stream,
      (input) => this.feedForward(`${name}.ffn`, input), what));
    trace.self.push(...self);
    trace.cross.push(...cross);
    trace.ffn.push(...ffn);
    return ffn.map(({ stream }) => stream);
  }

  logits(row) { // of a vector that leaves the decoder -> (V,)
    const tied = this.sizes.tie_embeddings;
    if (!tied) return this.dense("final", row);
    const { shape: [entries, width], values } = this.tensors["decoder.embedding"];
    const logits = new Float32Array(entries);
    const bias = this.tensors["final.bias"]?.values;
    for (let id = 0; id < entries; id++) {
      logits[id] = dot(values, row, width, id * width) + (bias ? bias[id] : 0);
    }
    return logits;
  }
}
