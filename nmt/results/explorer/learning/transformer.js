// The Transformer of transformer_model.py, small, and able to learn: its loss is differentiated by a Tape.
//
// Layers, names and formulas are the tutorial's: post-norm, sinusoidal positions, masks, the final layer.
// `parts` are what can be left out before a training. Positions, MASKED and `highest` are those of the run's own
// network: network.js and search.js of nmt/exports/browser/ are read first.

const ALL_PARTS = { positions: true, scaling: true, lookAhead: true, residual: true };

// Random numbers in [0, 1) of a seed: a linear congruential generator (Knuth's MMIX), its upper bits.
function randomNumbers(seed) {
  let state = BigInt.asUintN(64, BigInt(seed) * 2654435761n + 1n);
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 32n) / 2 ** 32;
  };
}

class Transformer {
  // sizes: {num_layers, d_model, num_heads, dff, input_vocab_size, target_vocab_size}
  constructor(sizes, parts, random) {
    const { d_model, dff, num_layers, input_vocab_size, target_vocab_size } = sizes;
    Object.assign(this, { sizes, parts, weights: {} });
    const matrix = (name, rows, columns, value) => {
      this.weights[name] = new Matrix(rows, columns, Float32Array.from({ length: rows * columns }, value));
    };
    const uniform = (limit) => () => limit * (2 * random() - 1);
    const dense = (name, inner, outer) => { // Glorot's uniform initialization, as Keras's Dense
      matrix(`${name}.kernel`, inner, outer, uniform(Math.sqrt(6 / (inner + outer))));
      matrix(`${name}.bias`, 1, outer, () => 0);
    };
    const norm = (name) => {
      matrix(`${name}.gamma`, 1, d_model, () => 1);
      matrix(`${name}.beta`, 1, d_model, () => 0);
    };
    matrix("encoder.embedding", input_vocab_size, d_model, uniform(0.05)); // as Keras's Embedding
    matrix("decoder.embedding", target_vocab_size, d_model, uniform(0.05));
    for (const [stack, attentions] of [["encoder", ["self"]], ["decoder", ["self", "cross"]]]) {
      for (let layer = 1; layer <= num_layers; layer++) {
        const name = `${stack}.${layer}`;
        for (const attention of attentions) {
          for (const part of ["wq", "wk", "wv", "dense"]) dense(`${name}.${attention}.${part}`, d_model, d_model);
        }
        dense(`${name}.ffn.first`, d_model, dff);
        dense(`${name}.ffn.second`, dff, d_model);
        for (let n = 1; n <= attentions.length + 1; n++) norm(`${name}.norm${n}`);
      }
    }
    dense("final", d_model, target_vocab_size);
  }

  // inputs, targets: sequences of ids of one length each -> {logits: (rows of targets, V), cross: its weights}
  forward(tape, inputs, targets) {
    const output = this.encode(tape, inputs);
    return this.decode(tape, targets, { output, inputs });
  }

  encode(tape, inputs) { // -> (sequences x length, D)
    let x = this.embed(tape, "encoder", inputs);
    const isPadding = (sequence, _, key) => inputs[sequence][key] === PADDING;
    for (let layer = 1; layer <= this.sizes.num_layers; layer++) {
      const name = `encoder.${layer}`;
      const { output } = this.attention(tape, `${name}.self`, x, x, inputs.length, isPadding);
      x = this.addAndNormalize(tape, `${name}.norm1`, x, output);
      x = this.addAndNormalize(tape, `${name}.norm2`, x, this.feedForward(tape, `${name}.ffn`, x));
    }
    return x;
  }

  decode(tape, targets, { output: encoded, inputs }) {
    let x = this.embed(tape, "decoder", targets), cross;
    const isHidden = (sequence, query, key) =>
      (this.parts.lookAhead && key > query) || targets[sequence][key] === PADDING;
    const isPadding = (sequence, _, key) => inputs[sequence][key] === PADDING;
    for (let layer = 1; layer <= this.sizes.num_layers; layer++) {
      const name = `decoder.${layer}`;
      const { output } = this.attention(tape, `${name}.self`, x, x, targets.length, isHidden);
      x = this.addAndNormalize(tape, `${name}.norm1`, x, output);
      cross = this.attention(tape, `${name}.cross`, x, encoded, targets.length, isPadding);
      x = this.addAndNormalize(tape, `${name}.norm2`, x, cross.output);
      x = this.addAndNormalize(tape, `${name}.norm3`, x, this.feedForward(tape, `${name}.ffn`, x));
    }
    return { logits: this.dense(tape, "final", x), cross: cross.weights };
  }

  dense(tape, name, x) {
    return tape.linear(x, this.weights[`${name}.kernel`], this.weights[`${name}.bias`]);
  }

  embed(tape, stack, sequences) {
    const { d_model } = this.sizes, ids = sequences.flat(), length = sequences[0].length;
    const positions = new Float32Array(ids.length * d_model); // of each row
    if (this.parts.positions) ids.forEach((_, row) => positions.set(positionalEncoding(row % length, d_model), row * d_model));
    return tape.embed(this.weights[`${stack}.embedding`], ids, positions);
  }

  attention(tape, name, x, source, sequences, isMasked) { // multi-head attention of x over source
    const { d_model, num_heads } = this.sizes;
    const [q, k, v] = [["wq", x], ["wk", source], ["wv", source]].map(([part, rows]) =>
      this.dense(tape, `${name}.${part}`, rows));
    const scale = this.parts.scaling ? Math.sqrt(d_model / num_heads) : 1;
    const { output, weights } = tape.attend(q, k, v, sequences, num_heads, scale, isMasked);
    return { output: this.dense(tape, `${name}.dense`, output), weights };
  }

  feedForward(tape, name, x) {
    return this.dense(tape, `${name}.second`, tape.relu(this.dense(tape, `${name}.first`, x)));
  }

  addAndNormalize(tape, name, x, output) { // LayerNorm(x + Sublayer(x)), as in the paper
    const sum = this.parts.residual ? tape.add(x, output) : output;
    return tape.normalize(sum, this.weights[`${name}.gamma`], this.weights[`${name}.beta`]);
  }

  // The most probable token, one after another -> {ids of each sequence, cross: weights of the last pass}
  greedy(inputs, length, start) {
    const tape = new Tape(), encoded = { output: this.encode(tape, inputs), inputs };
    const written = inputs.map(() => [start]);
    let cross;
    for (let step = 0; step < length; step++) {
      const result = this.decode(tape, written, encoded), entries = result.logits.columns;
      cross = result.cross;
      written.forEach((ids, sequence) => {
        const row = sequence * (step + 1) + step;
        ids.push(highest(result.logits.values.subarray(row * entries, (row + 1) * entries)));
      });
    }
    return { written: written.map((ids) => ids.slice(1)), cross };
  }
}
