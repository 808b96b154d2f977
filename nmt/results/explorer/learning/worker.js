// Trains in a worker, so that the page never waits, and says from time to time how far it is.

const MOMENT = 250; // milliseconds between two reports
const SIZES = { d_model: 32, num_heads: 4, dff: 64 };

let training = null, losses = [], seconds = 0, isPaused = false, wasSolved = false;
let next = 0; // the moment that waits

// -> {step, losses (of the steps since the last report), accuracy, seconds, isPaused, written, isRight, cross}
function report(accuracy) {
  const examined = training.examine(), isSolved = examined.isRight.every(Boolean);
  isPaused ||= isSolved && !wasSolved;
  wasSolved ||= isSolved;
  postMessage({ step: training.step, losses, accuracy, seconds, isPaused, ...examined });
  losses = [];
}

function trainForAMoment() {
  clearTimeout(next); // a pause and going on may be one message after the other
  if (isPaused) return;
  const begin = performance.now();
  let result;
  do {
    result = training.trainStep();
    losses.push(result.loss);
  } while (performance.now() - begin < MOMENT && training.step % training.task.steps);
  seconds += (performance.now() - begin) / 1000;
  isPaused = training.step % training.task.steps === 0; // the reader may go on
  report(result.accuracy);
  if (!isPaused) next = setTimeout(trainForAMoment); // after messages that wait
}

onmessage = ({ data: message }) => {
  if (message.task) { // {task, pairs, settings}: begins
    const task = TASKS[message.task](message.pairs);
    training = new Training(task, { ...SIZES, num_layers: message.settings.layers }, message.settings);
    postMessage({ entries: task.entries, held: task.held, heads: SIZES.num_heads, first: FIRST });
    report(0);
  }
  isPaused = message.isPaused;
  trainForAMoment();
};
