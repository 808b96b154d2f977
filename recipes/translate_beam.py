r"""Translates a file of any size, on any number of machines, by Apache Beam's RunInference.

    python run_demo.py export --run runs/a
    python3 -m venv beam
    beam/bin/pip install -q "apache-beam==2.77.*" "tensorflow==2.21.*" "tensorflow-text==2.21.*"
    beam/bin/python recipes/translate_beam.py --model runs/a/export/saved_model/1 --input a.pt \
        --output out/a.en
    cat out/a.en-*-of-?????

It has an environment of its own because apache-beam wants an older protobuf than sentencepiece,
which the rest of the project needs.

The input is cut into shards of about --shard-bytes, at line ends. Each is an element of the
pipeline: a worker reads its lines, translates them in batches of similar length, and writes
`OUTPUT-NUMBER-of-TOTAL`, a line for each line. A shard gets its name when it is complete, and one
that has its name is not translated again: after a job was killed, the same command goes on.
`OUTPUT.settings.json` says of which input and model the shards are, so that no others come among
them. All of the input is read before anything is translated.

The model is an exported SavedModel, so that workers need only TensorFlow, tensorflow-text and
apache-beam; files may be wherever Beam's file systems reach. Each line is one sentence, as for
`translate --no-split`.

All other flags are Beam's. On one machine with two processes:

    --runner DirectRunner --direct_num_workers 2 --direct_running_mode multi_processing

Prints shards, lines and lines per second on stderr.
"""

import argparse
import codecs
import hashlib
import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import UserError
from nmt.messages import reason
from nmt.resumable_output import other_settings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
try:
    import apache_beam as beam
    from apache_beam.io.filesystem import BeamIOError, CompressionTypes
    from apache_beam.io.filesystems import FileSystems
    from apache_beam.ml.inference.base import ModelHandler, RunInference
    from apache_beam.options.pipeline_options import PipelineOptions
except ImportError as error:
    sys.exit(f"{error}; install apache-beam in an environment of its own: see docs/scaling.md")

READ_BYTES = 1 << 20  # at a time, where the end of a line is searched for
BATCH_LINES = 64
BYTES = "application/octet-stream"
SIGNATURE = "serving_default"  # of an exported SavedModel: greedy search


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
    """

    def __init__(self, model: str):
        super().__init__()
        self.model = model

    def load_model(self):
        import tensorflow as tf
        import tensorflow_text  # noqa: F401  # the operators that hold the tokenizer

        return tf.saved_model.load(self.model)

    def batch_elements_kwargs(self) -> dict[str, int]:
        return {"max_batch_size": 1}  # a shard has batches of its own

    def run_inference(self, shards, model, inference_args=None):
        translate = model.signatures[SIGNATURE]
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
    with FileSystems.open(shard["path"], BYTES) as file:
        file.seek(shard["start"])
        data = file.read(shard["end"] - shard["start"])
    if not data:
        return []
    text = data.decode("utf-8-sig" if shard["start"] == 0 else "utf-8")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def write(shard_and_lines: tuple[Shard, list[str]]) -> int:
    """Writes the translations of a Shard. Returns their number."""
    shard, lines = shard_and_lines
    unfinished = f"{shard['output']}.unfinished-{os.getpid()}"
    with FileSystems.create(unfinished, BYTES) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    FileSystems.rename([unfinished], [shard["output"]])
    return len(lines)


# ---- Before the job ----


def read_input(path: str) -> str:
    """Reads a text to its end. Returns its SHA-256.

    Raises:
      UserError: it is compressed, is not UTF-8, or cannot be read; a worker would say so hours
        later.
    """
    if CompressionTypes.detect_compression_type(path) != CompressionTypes.UNCOMPRESSED:
        raise UserError(f"{path}: is compressed, so that it cannot be cut; decompress it")
    digest, decoder, lines = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")(), 0
    try:
        with FileSystems.open(path, BYTES) as file:
            while data := file.read(READ_BYTES):
                digest.update(data)
                decoder.decode(data)
                lines += data.count(b"\n")
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        line = lines + error.object[: error.start].count(b"\n") + 1
        raise UserError(f"{path}: line {line} is not UTF-8; see `run_demo.py data`") from None
    except (OSError, BeamIOError) as error:
        raise UserError(f"{path}: cannot be read ({reason(error)})") from None
    return digest.hexdigest()


def read_model(folder: str) -> str:
    """Returns the SHA-256 of a SavedModel: of its graph, and of the checksums of its weights.

    Raises:
      UserError: there is none in that folder, or it has not the signature of an export.
    """
    from tensorflow.core.protobuf import saved_model_pb2

    graph, digest = b"", hashlib.sha256()
    for names in (["variables", "variables.index"], ["saved_model.pb"]):
        try:
            with FileSystems.open(FileSystems.join(folder, *names), BYTES) as file:
                graph = file.read()
        except (OSError, BeamIOError):
            raise UserError(
                f"--model {folder}: is no SavedModel; name a folder that holds saved_model.pb"
            ) from None
        digest.update(graph)
    (meta_graph,) = saved_model_pb2.SavedModel.FromString(graph).meta_graphs
    if SIGNATURE not in meta_graph.signature_def:
        raise UserError(f"--model {folder}: has no signature {SIGNATURE!r}")
    return digest.hexdigest()


def claim(output: str, settings: dict[str, Any]) -> None:
    """Writes the settings of a new output, or compares them with those of an interrupted one.

    Raises:
      UserError: its shards were made with other settings, or it cannot be written.
    """
    path = f"{output}.settings.json"
    try:
        if FileSystems.exists(path):
            with FileSystems.open(path, BYTES) as file:
                different = other_settings(json.loads(file.read()), settings)
            if different:
                raise UserError(
                    f"{output}: was begun with another {' and '.join(different)}; give the same, "
                    "or another --output"
                )
            return
        if FileSystems.match([f"{output}-*-of-*"])[0].metadata_list:
            raise UserError(
                f"{output}: there are shards of this name, but not {path}; give another --output"
            )
        with FileSystems.create(f"{path}.unfinished", BYTES) as file:
            file.write(json.dumps(settings, indent=2).encode())
        FileSystems.rename([f"{path}.unfinished"], [path])
    except ValueError:
        raise UserError(f"{path}: is damaged; give another --output") from None
    except (OSError, BeamIOError) as error:
        raise UserError(f"{output}: cannot be written ({reason(error)})") from None


def cut(path: str, shard_bytes: int, output: str) -> list[Shard]:
    """Returns the Shards of a file, each of about `shard_bytes`, which end where lines end."""
    size = FileSystems.get_filesystem(path).metadata(path).size_in_bytes
    ends = []
    with FileSystems.open(path, BYTES) as file:
        while not ends or ends[-1] < size:
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="folder of an exported SavedModel")
    parser.add_argument("--input", required=True, help="UTF-8 text, a sentence a line")
    parser.add_argument("--output", required=True, help="what the names of the shards begin with")
    parser.add_argument("--shard-bytes", type=int, default=10_000_000, help="(default 10000000)")
    args, beam_flags = parser.parse_known_args()
    if args.shard_bytes < 1:
        parser.error("--shard-bytes must be at least 1")
    logging.getLogger().setLevel(logging.ERROR)
    # Of a flag that is not Beam's either, it only warns.
    logging.getLogger("apache_beam.options.pipeline_options").setLevel(logging.WARNING)
    try:
        settings = {
            "--input": read_input(args.input), "--model": read_model(args.model),
            "--shard-bytes": args.shard_bytes,
        }  # fmt: skip
        claim(args.output, settings)
    except UserError as error:
        print(f"translate_beam.py: {error}", file=sys.stderr)
        return 2
    translate(args, PipelineOptions(beam_flags))
    return 0


def translate(args: argparse.Namespace, options: PipelineOptions) -> None:
    """Translates the shards that are missing, and reports their lines."""
    shards = cut(args.input, args.shard_bytes, args.output)
    missing = [shard for shard in shards if not FileSystems.exists(shard["output"])]
    print(f"{len(shards)} shards, {len(missing)} to translate", file=sys.stderr)
    if not missing:
        return
    started = time.perf_counter()
    lines = beam.metrics.Metrics.counter("translate", "lines")
    with beam.Pipeline(options=options) as pipeline:
        _ = (
            pipeline
            | "Shards" >> beam.Create(missing)
            | "Spread" >> beam.Reshuffle()  # over workers
            | "Translate" >> RunInference(TranslateShards(args.model))
            | "Write" >> beam.Map(write)
            | "Count" >> beam.Map(lines.inc)
        )
    seconds = time.perf_counter() - started
    counters = pipeline.result.metrics().query()["counters"]
    total = sum(counter.result for counter in counters if counter.key.metric.name == "lines")
    print(f"{total} lines in {seconds:.0f} s, {total / seconds:.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
