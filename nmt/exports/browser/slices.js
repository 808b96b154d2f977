// Work in slices: typing and scrolling never wait for the network or for drawing.

const SLICE = 16; // milliseconds

// Runs a generator with pauses, as long as `isWanted` returns true. -> a promise of what it returns
async function inSlices(steps, isWanted = () => true) {
  let begin = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - begin < SLICE) continue;
    await new Promise((resume) => setTimeout(resume));
    if (!isWanted()) return undefined;
    begin = performance.now();
  }
}
