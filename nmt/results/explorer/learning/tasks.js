// What the small network can learn: to copy, to reverse, or short sentences of a corpus.
//
// A task has `batch(random)` and `held`, both {inputs, targets}: sequences of ids, of one length each;
// `entries`, the words of both vocabularies; and `steps`, after which a training pauses.

const START = 1, END = 2, FIRST = 3; // ids; 0 is PADDING (gradients.js)
const BATCH_SIZE = 32, HELD = 64, LENGTH = 6;
const LETTERS = [..."ABCDEFGH"];

const realIds = (ids) => ids.filter((id) => id >= FIRST);

function shuffled(list, random) { // Fisher and Yates
  const result = [...list];
  for (let n = result.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [result[n], result[other]] = [result[other], result[n]];
  }
  return result;
}

// Six letters, of which `change` makes the target.
function letterTask(change) {
  const pairsOf = (number, random) => {
    const letters = Array.from({ length: number }, () =>
      Array.from({ length: LENGTH }, () => FIRST + Math.floor(random() * LETTERS.length)));
    return { inputs: letters, targets: letters.map((ids) => [START, ...change(ids), END]) };
  };
  const held = pairsOf(HELD, randomNumbers(0)), known = new Set(held.inputs.map(String));
  return {
    held, steps: 400, entries: [LETTERS, LETTERS],
    vocabularySizes: { input_vocab_size: FIRST + LETTERS.length, target_vocab_size: FIRST + LETTERS.length },
    batch(random) {
      for (;;) {
        const pairs = pairsOf(BATCH_SIZE, random);
        if (!pairs.inputs.some((ids) => known.has(String(ids)))) return pairs;
      }
    },
  };
}

// texts: [[source, target]], words separated by spaces; the first HELD are held back
function sentenceTask(texts) {
  const pairs = texts.map((pair) => pair.map((text) => text.split(" ")));
  const entries = [0, 1].map((side) => [...new Set(pairs.flatMap((pair) => pair[side]))].sort());
  const ids = entries.map((words) => new Map(words.map((word, n) => [word, FIRST + n])));
  const lengths = [0, 1].map((side) => Math.max(...pairs.map((pair) => pair[side].length)));
  const padded = (list, length) => [...list, ...Array(length - list.length).fill(PADDING)];
  const encoded = pairs.map(([source, target]) => [
    padded(source.map((word) => ids[0].get(word)), lengths[0]),
    padded([START, ...target.map((word) => ids[1].get(word)), END], lengths[1] + 2),
  ]);
  const batchOf = (chosen) => ({ inputs: chosen.map(([source]) => source), targets: chosen.map(([, target]) => target) });
  let waiting = [];
  return {
    held: batchOf(encoded.slice(0, HELD)), steps: 1000, entries,
    vocabularySizes: { input_vocab_size: FIRST + entries[0].length, target_vocab_size: FIRST + entries[1].length },
    batch(random) { // every pair once, then every pair again
      if (waiting.length < BATCH_SIZE) waiting = shuffled(encoded.slice(HELD), random);
      return batchOf(waiting.splice(0, BATCH_SIZE));
    },
  };
}

const TASKS = {
  copy: () => letterTask((ids) => ids),
  reverse: () => letterTask((ids) => [...ids].reverse()),
  sentences: sentenceTask,
};
