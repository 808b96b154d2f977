r"""Translates a file of any size, on any number of machines, by Apache Beam's RunInference.

    python run_demo.py export --run runs/a
    python3 -m venv beam && beam/bin/pip install -q -r benchmarks/requirements-beam.txt
    beam/bin/python benchmarks/translate_beam.py --model runs/a/export/saved_model/1 --input a.pt \
        --output out/a.en
    cat out/a.en-*-of-?????

The input is cut into shards of about --shard-bytes, at line ends. Each is an element of the
pipeline: a worker reads its lines, translates them in batches of similar length, and writes
`OUTPUT-NUMBER-of-TOTAL`, a line for each line. A shard gets its name when it is complete, and one
that has its name is not translated again: after a job was killed, the same command goes on. The
model is an exported SavedModel, so that workers need only TensorFlow, tensorflow-text and
apache-beam; files may be wherever Beam's file systems reach. Each line is one sentence, as for
`translate --no-split`.

All other flags are Beam's. On one machine with two processes:

    --runner DirectRunner --direct_num_workers 2 --direct_running_mode multi_processing

Prints shards, lines and lines per second on stderr.
"""

import argparse
import logging
import os
import sys
import time
from typing import TypedDict

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
try:
    import apache_beam as beam
    from apache_beam.io.filesystems import FileSystems
    from apache_beam.ml.inference.base import ModelHandler, RunInference
    from apache_beam.options.pipeline_options import PipelineOptions
except ImportError as error:
    sys.exit(f"{error}; install benchmarks/requirements-beam.txt in an environment of its own")

READ_BYTES = 1 << 20  # at a time, where the end of a line is searched for
BATCH_LINES = 64


class Shard(TypedDict):
    """A part of the input, in bytes, and the file for its translations.

    A dict, which workers can unpickle: they have not imported this program.
    """

    path: str
    start: int
    end: int
    output: str


class TranslateShards(ModelHandler):
    """Translates Shards with a SavedModel, and yields the text of their translations.

    Args:
      model: the folder of the SavedModel.
      signature: `serving_default` (greedy search), or `beam`.
    """

    def __init__(self, model: str, signature: str):
        super().__init__()
        self.model, self.signature = model, signature

    def load_model(self):
        import tensorflow as tf
        import tensorflow_text  # noqa: F401  # the operators that hold the tokenizer

        return tf.saved_model.load(self.model)

    def batch_elements_kwargs(self) -> dict[str, int]:
        return {"max_batch_size": 1}  # a shard has batches of its own

    def run_inference(self, shards, model, inference_args=None):
        translate = model.signatures[self.signature]
        return [(shard, translations(read_lines(shard), translate)) for shard in shards]


def translations(lines: list[str], translate) -> list[str]:
    """Returns the translations of `lines`, computed in batches of similar length.

    Args:
      lines: sentences.
      translate: a signature of the SavedModel.
    """
    import tensorflow as tf

    results = [""] * len(lines)
    by_length = sorted(range(len(lines)), key=lambda number: len(lines[number]))
    for start in range(0, len(lines), BATCH_LINES):
        numbers = by_length[start : start + BATCH_LINES]
        batch = translate(sentences=tf.constant([lines[number] for number in numbers]))
        for number, text in zip(numbers, batch["translations"].numpy(), strict=True):
            results[number] = text.decode()
    return results


def read_lines(shard: Shard) -> list[str]:
    """Returns the lines of a Shard, without line ends."""
    with FileSystems.open(shard["path"], "application/octet-stream") as file:
        file.seek(shard["start"])
        data = file.read(shard["end"] - shard["start"])
    try:
        text = data.decode("utf-8-sig" if shard["start"] == 0 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{shard['path']}: byte {shard['start'] + error.start} is not UTF-8; see "
            "`run_demo.py data`"
        ) from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def write(shard_and_lines: tuple[Shard, list[str]]) -> int:
    """Writes the translations of a Shard. Returns their number."""
    shard, lines = shard_and_lines
    unfinished = f"{shard['output']}.unfinished-{os.getpid()}"
    with FileSystems.create(unfinished, "application/octet-stream") as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    FileSystems.rename([unfinished], [shard["output"]])
    return len(lines)


def cut(path: str, shard_bytes: int, output: str) -> list[Shard]:
    """Returns the Shards of a file, each of about `shard_bytes`, which end where lines end."""
    size = FileSystems.match([path])[0].metadata_list[0].size_in_bytes
    ends = []
    with FileSystems.open(path, "application/octet-stream") as file:
        while (ends[-1] if ends else 0) < size:
            place = (ends[-1] if ends else 0) + shard_bytes
            file.seek(min(place, size))
            while (data := file.read(READ_BYTES)) and b"\n" not in data:
                place += len(data)
            ends.append(min(place + data.find(b"\n") + 1, size) if data else size)
    starts = [0, *ends[:-1]]
    names = [f"{output}-{n:05d}-of-{len(ends):05d}" for n in range(len(ends))]
    return [
        Shard(path=path, start=start, end=end, output=name)
        for start, end, name in zip(starts, ends, names, strict=True)
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="folder of an exported SavedModel")
    parser.add_argument("--input", required=True, help="UTF-8 text, a sentence a line")
    parser.add_argument("--output", required=True, help="what the names of the shards begin with")
    parser.add_argument("--signature", default="serving_default", help="or: beam")
    parser.add_argument("--shard-bytes", type=int, default=10_000_000, help="(default 10000000)")
    args, beam_flags = parser.parse_known_args()
    logging.getLogger().setLevel(logging.ERROR)

    shards = cut(args.input, args.shard_bytes, args.output)
    missing = [shard for shard in shards if not FileSystems.exists(shard["output"])]
    print(f"{len(shards)} shards, {len(missing)} to translate", file=sys.stderr)
    started = time.perf_counter()
    lines = beam.metrics.Metrics.counter("translate", "lines")
    with beam.Pipeline(options=PipelineOptions(beam_flags)) as pipeline:
        _ = (
            pipeline
            | "Shards" >> beam.Create(missing)
            | "Spread" >> beam.Reshuffle()  # over workers
            | "Translate" >> RunInference(TranslateShards(args.model, args.signature))
            | "Write" >> beam.Map(write)
            | "Count" >> beam.Map(lines.inc)
        )
    seconds = time.perf_counter() - started
    counters = pipeline.result.metrics().query()["counters"]
    total = sum(counter.result for counter in counters if counter.key.metric.name == "lines")
    print(f"{total} lines in {seconds:.0f} s, {total / seconds:.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    main()
