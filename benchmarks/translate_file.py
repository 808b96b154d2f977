"""How long a large file takes to translate, and how much memory, beside CTranslate2.

    pip install -r benchmarks/requirements.txt
    python benchmarks/translate_file.py --run runs/bundled [--source FILE] [--lines 100000]

Each system is a process of its own, from its start to its end: `run_demo.py translate --no-split`,
and CTranslate2's `translate_file` on the exported run, in float32, with as many batches in parallel
as there are cores. If the source has fewer lines than asked for, it is repeated. Both use greedy
search, then a beam of 4, without a length penalty.

Prints a markdown table: seconds, lines per second, peak memory of the process, and how many
translations are the same as this project's.
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

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
OTHER = """
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


def measured(command, **streams):
    """Returns the seconds that a process takes, and its peak memory in MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, **streams)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {status}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, help="folder of a trained run")
    parser.add_argument("--source", help="text to translate (default: the run's test split)")
    parser.add_argument("--lines", type=int, default=100_000, help="of the file (default 100000)")
    args = parser.parse_args()

    folder = tempfile.TemporaryDirectory()
    work = Path(folder.name)
    if args.source:
        lines = Path(args.source).read_text(encoding="utf-8").splitlines()
    else:
        from run_demo import load_corpus

        options = json.loads((Path(args.run) / "params.json").read_text(encoding="utf-8"))
        corpus = load_corpus(options["corpus"], options["seed"])
        lines = [source.decode() for source, _ in corpus.test.as_numpy_iterator()]
    lines = itertools.islice(itertools.cycle(lines), args.lines)
    (work / "source").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    ours = [sys.executable, "run_demo.py"]
    run = ["--run", Path(args.run).resolve()]
    exporting = [*ours, "export", *run, "--format", "ctranslate2", "--to", work / "ctranslate2"]
    subprocess.run(exporting, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    paths = work / "ctranslate2", work / "ctranslate2" / "tokenizer.model"
    cores = len(os.sched_getaffinity(0))
    found, texts = {}, {}
    for beam in (1, 4):
        with open(work / "source") as source, open(work / "ours", "w") as target:
            command = [*ours, "translate", *run, "--no-split", "--beam", str(beam)]
            command += ["--length-penalty", "0"]
            found["this project", beam] = measured(command, stdin=source, stdout=target)
        files = work / "source", work / "other"
        command = [sys.executable, "-c", OTHER, *paths, beam, cores, *files]
        found["CTranslate2 float32", beam] = measured([*map(str, command)])
        for (name, _), file in zip(found, ("ours", "other"), strict=False):
            texts[name, beam] = (work / file).read_text(encoding="utf-8").splitlines()

    print(f"{args.lines:,} lines, {cores} cores\n")
    print("| system | beam | seconds | lines/s | to CTranslate2 | peak MiB | same |")
    print("|---|---|---|---|---|---|---|")
    for (name, beam), (seconds, memory) in found.items():
        other, _ = found["CTranslate2 float32", beam]
        pairs = zip(texts[name, beam], texts["this project", beam], strict=True)
        same = sum(mine == its for mine, its in pairs)
        print(
            f"| {name} | {beam} | {seconds:.1f} | {args.lines / seconds:,.0f} "
            f"| {other / seconds:.2f} | {memory:,.0f} | {same:,} |"
        )


if __name__ == "__main__":
    main()
