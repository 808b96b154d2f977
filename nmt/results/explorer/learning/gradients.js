// Matrices that can be differentiated: each operation notes on a tape how its gradients are computed,
// and `backward` reads the tape from its end, by the chain rule.
//
// A row is a vector of one position; the sequences of a batch follow one another.

class Matrix {
  constructor(rows, columns, values = new Float32Array(rows * columns)) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
    this.gradient = new Float32Array(rows * columns); // of the loss, by each value
  }
}

class Tape {
  constructor() { this.steps = []; }

  note(result, backward) {
    this.steps.push(backward);
    return result;
  }

  backward() { // of a loss, whose operation was the last one
    while (this.steps.length) this.steps.pop()();
  }

  // x W + b. x: (rows, n), kernel: (n, m), bias: (1, m)
  linear(x, kernel, bias) {
    const result = new Matrix(x.rows, kernel.columns), { columns: inner } = x, { columns: outer } = kernel;
    for (let row = 0; row < x.rows; row++) result.values.set(bias.values, row * outer);
    multiply(result.values, x.values, kernel.values, x.rows, inner, outer);
    return this.note(result, () => {
      const of = result.gradient; // dL/dx = dL/dy W^T, dL/dW = x^T dL/dy, dL/db = the sum of rows
      multiply(x.gradient, of, transposed(kernel.values, inner, outer), x.rows, outer, inner);
      multiply(kernel.gradient, transposed(x.values, x.rows, inner), of, inner, x.rows, outer);
      for (let n = 0; n < of.length; n++) bias.gradient[n % outer] += of[n];
    });
  }

  add(x, y) {
    const result = new Matrix(x.rows, x.columns, x.values.map((value, n) => value + y.values[n]));
    return this.note(result, () => {
      result.gradient.forEach((of, n) => { x.gradient[n] += of; y.gradient[n] += of; });
    });
  }

  relu(x) {
    const result = new Matrix(x.rows, x.columns, x.values.map((value) => Math.max(0, value)));
    return this.note(result, () => {
      result.gradient.forEach((of, n) => { if (x.values[n] > 0) x.gradient[n] += of; });
    });
  }

  // sqrt(D) times the embeddings of ids, plus `positions`, a constant for each row
  embed(table, ids, positions) {
    const width = table.columns, scale = Math.sqrt(width), result = new Matrix(ids.length, width);
    ids.forEach((id, row) => {
      for (let n = 0; n < width; n++) {
        result.values[row * width + n] = scale * table.values[id * width + n] + positions[row * width + n];
      }
    });
    return this.note(result, () => ids.forEach((id, row) => {
      for (let n = 0; n < width; n++) table.gradient[id * width + n] += scale * result.gradient[row * width + n];
    }));
  }

  // Layer normalization: gamma (x - mean) / deviation + beta, row by row. gamma, beta: (1, D)
  normalize(x, gamma, beta, epsilon = 1e-6) {
    const { rows, columns: width } = x, result = new Matrix(rows, width);
    const normed = new Float32Array(rows * width), deviations = new Float32Array(rows);
    for (let row = 0; row < rows; row++) {
      const from = row * width;
      let mean = 0, variance = 0;
      for (let n = from; n < from + width; n++) mean += x.values[n] / width;
      for (let n = from; n < from + width; n++) variance += (x.values[n] - mean) ** 2 / width;
      deviations[row] = Math.sqrt(variance + epsilon);
      for (let n = 0; n < width; n++) {
        normed[from + n] = (x.values[from + n] - mean) / deviations[row];
        result.values[from + n] = gamma.values[n] * normed[from + n] + beta.values[n];
      }
    }
    return this.note(result, () => {
      for (let row = 0; row < rows; row++) {
        const from = row * width;
        let mean = 0, along = 0; // of gamma dL/dy, and of its product with the normed values
        for (let n = 0; n < width; n++) {
          const of = result.gradient[from + n];
          gamma.gradient[n] += of * normed[from + n];
          beta.gradient[n] += of;
          mean += (of * gamma.values[n]) / width;
          along += (of * gamma.values[n] * normed[from + n]) / width;
        }
        for (let n = 0; n < width; n++) {
          const of = result.gradient[from + n] * gamma.values[n];
          x.gradient[from + n] += (of - mean - normed[from + n] * along) / deviations[row];
        }
      }
    });
  }

  // softmax(q k^T / sqrt(d_k) + mask) v, head by head and sequence by sequence; the heads beside each other.
  // isMasked(sequence, query, key); scale: what the products are divided by
  // -> {output: (rows of q, D), weights: (sequences, heads, queries, keys)}
  attend(q, k, v, sequences, heads, scale, isMasked) {
    const width = q.columns, depth = width / heads, queries = q.rows / sequences, keys = k.rows / sequences;
    const output = new Matrix(q.rows, width), weights = new Float32Array(sequences * heads * queries * keys);
    const each = (visit) => { // (first value of the query, of the key 0, first weight, sequence, query)
      for (let sequence = 0, place = 0; sequence < sequences; sequence++) {
        for (let head = 0; head < heads; head++) {
          for (let query = 0; query < queries; query++, place += keys) {
            const from = (sequence * queries + query) * width + head * depth;
            visit(from, sequence * keys * width + head * depth, place, sequence, query);
          }
        }
      }
    };
    each((from, first, place, sequence, query) => {
      let largest = -Infinity, sum = 0;
      for (let key = 0; key < keys; key++) {
        let product = isMasked(sequence, query, key) ? MASKED : 0;
        for (let n = 0; n < depth; n++) product += (q.values[from + n] * k.values[first + key * width + n]) / scale;
        weights[place + key] = product;
        largest = Math.max(largest, product);
      }
      for (let key = 0; key < keys; key++) sum += weights[place + key] = Math.exp(weights[place + key] - largest);
      for (let key = 0; key < keys; key++) {
        const weight = weights[place + key] /= sum;
        for (let n = 0; n < depth; n++) output.values[from + n] += weight * v.values[first + key * width + n];
      }
    });
    this.note(output, () => each((from, first, place) => {
      const of = output.gradient, byWeight = new Float32Array(keys);
      let mean = 0; // of the gradients by the weights, weighted by them
      for (let key = 0; key < keys; key++) {
        for (let n = 0; n < depth; n++) {
          byWeight[key] += of[from + n] * v.values[first + key * width + n];
          v.gradient[first + key * width + n] += weights[place + key] * of[from + n];
        }
        mean += weights[place + key] * byWeight[key];
      }
      for (let key = 0; key < keys; key++) {
        const byProduct = (weights[place + key] * (byWeight[key] - mean)) / scale;
        for (let n = 0; n < depth; n++) {
          q.gradient[from + n] += byProduct * k.values[first + key * width + n];
          k.gradient[first + key * width + n] += byProduct * q.values[from + n];
        }
      }
    }));
    return { output, weights };
  }

  // The mean of -log(softmax(logits)[target]) over targets that are no padding -> {loss, right, total}
  crossEntropy(logits, targets) {
    const entries = logits.columns, probabilities = Float32Array.from(logits.values);
    const total = targets.filter((target) => target !== PADDING).length;
    let loss = 0, right = 0;
    targets.forEach((target, row) => {
      const one = probabilities.subarray(row * entries, (row + 1) * entries), best = highest(one);
      const largest = one[best];
      let sum = 0;
      for (let id = 0; id < entries; id++) sum += one[id] = Math.exp(one[id] - largest);
      for (let id = 0; id < entries; id++) one[id] /= sum;
      if (target === PADDING) return;
      loss -= Math.log(one[target]) / total;
      right += best === target;
    });
    this.note(null, () => targets.forEach((target, row) => {
      if (target === PADDING) return;
      for (let id = 0, n = row * entries; id < entries; id++, n++) {
        logits.gradient[n] += (probabilities[n] - (id === target)) / total;
      }
    }));
    return { loss, right, total };
  }
}

const PADDING = 0;

function transposed(values, rows, columns) {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) result[column * rows + row] = values[row * columns + column];
  }
  return result;
}

// result (rows, outer) += x (rows, inner) times y (inner, outer); four rows of y at once, which halves the time
function multiply(result, x, y, rows, inner, outer) {
  for (let row = 0; row < rows; row++) {
    const to = row * outer;
    let k = 0;
    for (; k + 3 < inner; k += 4) {
      const a = x[row * inner + k], b = x[row * inner + k + 1], c = x[row * inner + k + 2], d = x[row * inner + k + 3];
      const from = k * outer;
      for (let n = 0; n < outer; n++) {
        result[to + n] += a * y[from + n] + b * y[from + outer + n] + c * y[from + 2 * outer + n] + d * y[from + 3 * outer + n];
      }
    }
    for (; k < inner; k++) {
      const a = x[row * inner + k], from = k * outer;
      for (let n = 0; n < outer; n++) result[to + n] += a * y[from + n];
    }
  }
}
