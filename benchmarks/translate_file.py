"""How long a large file takes to translate, and how much memory, beside CTranslate2.

    pip install -e ".[benchmarks]"
    python benchmarks/translate_file.py --run runs/bundled [--source FILE] [--lines 100000]

Each system is a process of its own, from its start to its end: `run_demo.py translate`, which also
divides lines into sentences, protects, repairs, checks and says what is doubtful, and CTranslate2's
`translate_file` on the exported run, in float32, with as many batches in parallel as there are
cores. If the source has fewer lines than asked for, it is repeated. Both use greedy search, then a
beam of 4, without a length penalty.

Prints a markdown table: seconds, those of the processor, lines per second, the ratio of processor
time to CTranslate2's, which other work on the machine changes least, peak memory of the process,
and how many translations are the same as this project's.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt import machine
from nmt.corpus.source import CorpusSource
from nmt.text import encoding

ROOT = Path(__file__).resolve().parents[1]
CTRANSLATE2 = """
import sys
import ctranslate2, sentencepiece
folder, tokenizer, beam, cores, source, target = sys.argv[1:]
processor = sentencepiece.SentencePieceProcessor(model_file=tokenizer)
model = ctranslate2.Translator(folder, inter_threads=int(cores), intra_threads=1)
model.translate_file(
    source, target, max_batch_size=2048, batch_type="tokens", beam_size=int(beam),
    length_penalty=0.0, max_decoding_length=512,
    source_tokenize_fn=lambda line: processor.encode(line, out_type=str),
    target_detokenize_fn=processor.decode,
)
"""


class Measurement(NamedTuple):
    """What a process took, and what it wrote."""

    seconds: float
    processor: float  # seconds, of all cores together
    peak_memory: float  # MiB
    translations: list[str]


def measured(command, target, **streams):
    """Returns the Measurement of a process that writes translations into the file `target`."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, **streams)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {status}")
    seconds = time.perf_counter() - started
    translations = list(encoding.read_lines(target))
    processor = usage.ru_utime + usage.ru_stime
    return Measurement(seconds, processor, usage.ru_maxrss / 1024, translations)


def this_project(run, source, target, beam):
    """Returns the Measurement of this project."""
    command = [sys.executable, "run_demo.py", "translate", "--run", run]
    command += ["--beam", str(beam), "--length-penalty", "0"]
    with open(source) as stdin, open(target, "w") as stdout:
        return measured(command, target, stdin=stdin, stdout=stdout)


def ctranslate2(model, source, target, beam):
    """Returns the Measurement of CTranslate2."""
    arguments = [model, model / "tokenizer.model", beam, machine.cores(), source, target]
    return measured([sys.executable, "-c", CTRANSLATE2, *map(str, arguments)], target)


def load_lines(args):
    """Returns the lines of --source, or of the run's test split."""
    if args.source:
        return list(encoding.read_lines(args.source))
    from run_demo import load_corpus

    options = json.loads((Path(args.run) / "params.json").read_text(encoding="utf-8"))
    corpus = load_corpus(CorpusSource.from_json(options["corpus"]), options["seed"])
    return [source for source, _ in corpus.test]


def print_table(measurements, lines):
    """Prints a row for each of the Measurements, which are by system and beam."""
    print(f"{lines:,} lines, {machine.cores()} cores\n")
    print("| system | beam | seconds | of processor | lines/s | ratio | peak MiB | same |")
    print("|---|---|---|---|---|---|---|---|")
    for (system, beam), (seconds, processor, memory, translations) in measurements.items():
        ratio = measurements["CTranslate2 float32", beam].processor / processor
        reference = measurements["this project", beam].translations
        same = sum(a == b for a, b in zip(translations, reference, strict=True))
        print(
            f"| {system} | {beam} | {seconds:.1f} | {processor:.1f} | {lines / seconds:,.0f} "
            f"| {ratio:.2f} | {memory:,.0f} | {same:,} |"
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, help="folder of a trained run")
    parser.add_argument("--source", help="text to translate (default: the run's test split)")
    parser.add_argument("--lines", type=int, default=100_000, help="of the file (default 100000)")
    args = parser.parse_args()

    run, measurements = Path(args.run).resolve(), {}
    with tempfile.TemporaryDirectory() as folder:
        source, target, model = (Path(folder) / name for name in ("source", "target", "model"))
        lines = itertools.islice(itertools.cycle(load_lines(args)), args.lines)
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        export = ["export", "--run", run, "--format", "ctranslate2", "--to", model]
        command = [sys.executable, "run_demo.py", *export]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        for beam in (1, 4):
            measurements["this project", beam] = this_project(run, source, target, beam)
            measurements["CTranslate2 float32", beam] = ctranslate2(model, source, target, beam)
    print_table(measurements, args.lines)


if __name__ == "__main__":
    main()
