// The tutorial's training step: shift, loss, gradients, Adam by the paper's schedule.

const BETA_1 = 0.9, BETA_2 = 0.98, EPSILON = 1e-9; // the tutorial's

class Adam {
  constructor(weights) {
    this.weights = Object.values(weights);
    this.moments = this.weights.map(({ values }) => [new Float32Array(values.length), new Float32Array(values.length)]);
    this.step = 0;
  }

  apply(rate) { // of gradients, which are 0 afterwards
    this.step++;
    const scale = rate * Math.sqrt(1 - BETA_2 ** this.step) / (1 - BETA_1 ** this.step);
    const epsilon = EPSILON * Math.sqrt(1 - BETA_2 ** this.step);
    this.weights.forEach(({ values, gradient }, number) => {
      const [first, second] = this.moments[number];
      for (let n = 0; n < values.length; n++) {
        first[n] += (1 - BETA_1) * (gradient[n] - first[n]);
        second[n] += (1 - BETA_2) * (gradient[n] ** 2 - second[n]);
        values[n] -= (scale * first[n]) / (Math.sqrt(second[n]) + epsilon);
      }
      gradient.fill(0);
    });
  }
}

// The schedule of the paper, by its highest rate: up during warm-up, then down by the root of the step, but
// not before LEAST_STEPS, so that without warm-up the rate begins, and stays as long, at its highest.
const LEAST_STEPS = 100;

function learningRate(step, { peak, warmup }) {
  return peak * Math.min(step / Math.max(1, warmup), 1, Math.sqrt(Math.max(LEAST_STEPS, warmup) / step));
}

class Training {
  // settings: {seed, parts, layers, peak, warmup}; task: see tasks.js
  constructor(task, sizes, settings) {
    Object.assign(this, { task, settings, random: randomNumbers(settings.seed), step: 0 });
    this.transformer = new Transformer({ ...sizes, ...task.vocabularySizes }, settings.parts, this.random);
    this.adam = new Adam(this.transformer.weights);
  }

  trainStep() { // -> {loss, accuracy} of the batch, before its step
    const { inputs, targets } = this.task.batch(this.random), tape = new Tape();
    const shifted = targets.map((ids) => ids.slice(0, -1)), real = targets.flatMap((ids) => ids.slice(1));
    const { logits } = this.transformer.forward(tape, inputs, shifted);
    const { loss, right, total } = tape.crossEntropy(logits, real);
    tape.backward();
    this.adam.apply(learningRate(++this.step, this.settings));
    return { loss, accuracy: right / total };
  }

  // The sequences that no batch has: written greedily, and how many of them are right
  examine() { // -> {written: [ids up to END], right, cross: weights (heads, queries, keys) of the first one}
    const { inputs, targets } = this.task.held, { num_heads } = this.transformer.sizes;
    const { written, cross } = this.transformer.greedy(inputs, targets[0].length - 1, START);
    const ended = written.map((ids) => (ids.includes(END) ? ids.slice(0, ids.indexOf(END)) : ids));
    const isRight = ended.map((ids, n) => `${ids}` === `${realIds(targets[n])}`);
    const weights = cross.subarray(0, num_heads * (targets[0].length - 1) * inputs[0].length);
    return { written: ended, isRight, cross: Float32Array.from(weights) };
  }
}
