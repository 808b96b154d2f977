"""How fast training reads its pairs, and what that takes: python benchmarks/read_pairs.py

Tokenizes a text of --pairs pairs, the corpus repeated (--train FILE FILE; by default the bundled
one), as training does, plans an epoch, and reads it in random order by one process, then by more
(--readers), each of which reads its own rows of all batches, as the workers of a cluster do. Prints
two markdown tables. Processor time is user and system time of all threads. The pages of the mapped
files belong to the system, which drops them where memory is scarce. Linux alone says how many there
are.
"""

import argparse
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import params
from nmt.cli import flags
from nmt.corpus.source import CorpusSource

ROOT = Path(__file__).resolve().parents[1]


class Reading(NamedTuple):
    """What one reader has measured."""

    pairs: int  # that it has read
    seconds: float
    processor_seconds: float
    own_memory: float  # MiB
    mapped: float  # MiB of files in its memory


def memory(name):
    """Returns a value of this process in MiB: RssAnon for its own memory, RssFile for files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 2**10
    raise KeyError(name)


def read(batches, index, seconds, start, results):
    """Reads the rows of one of `batches.replicas` readers, and puts its Reading into a queue."""
    rows = batches.epoch(0, seed=1, shares=range(index, index + 1))
    read_batches, pairs = iter(rows), 0
    next(read_batches)  # the plan is made, the graph traced
    start.wait()
    began, processor_began = time.perf_counter(), time.process_time()
    for inp, _ in read_batches:
        pairs += inp.shape[0]
        if time.perf_counter() - began > seconds:
            break
    ended = time.perf_counter() - began, time.process_time() - processor_began
    results.put(Reading(pairs, *ended, memory("RssAnon"), memory("RssFile")))


def readings(batches, readers, seconds):
    """Returns the Reading of each of several processes, which begin at the same time."""
    context = multiprocessing.get_context("spawn")  # TensorFlow's threads do not outlive a fork
    batches.replicas = readers
    start, results = context.Barrier(readers, timeout=300), context.Queue()
    processes = [
        context.Process(target=read, args=(batches, index, seconds, start, results), daemon=True)
        for index in range(readers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            sys.exit("a reader has failed")
    return [results.get() for _ in processes]


def tokenize(args, folder):
    """Returns the Batches of the repeated corpus, and the seconds and processor seconds it took."""
    import run_demo
    from nmt.corpus.batches import Batches
    from nmt.text import encoding

    repeated_files = []
    for number, path in enumerate(args.train):
        lines = [f"{line}\n" for line in encoding.read_lines(str(path))]
        repeated_files.append(str(folder / f"{number}-{path.name.removesuffix('.gz')}"))
        with open(repeated_files[-1], "w", encoding="utf-8") as file:
            file.writelines(itertools.islice(itertools.cycle(lines), args.pairs))
    # Where all splits are named, no pairs are held out of the training text.
    names = tuple(repeated_files)
    source = CorpusSource(train=names, valid=names, test=names)
    pairs = run_demo.load_corpus(source, params.SEED, only="train").train
    model = run_demo.train_tokenizer(pairs.take(min(args.pairs, 100_000)), args.vocab_size)
    began, processor_began = time.perf_counter(), time.process_time()
    batches = Batches(
        pairs, run_demo.Tokenizer(model), args.batch_size, params.MAX_LENGTH, folder=folder
    )
    return batches, time.perf_counter() - began, time.process_time() - processor_began


def print_tokenizing(args, folder):
    """Tokenizes, and prints what that took. Returns the Batches."""
    batches, seconds, processor_seconds = tokenize(args, folder)
    from nmt.corpus.batch_plan import plan_epoch

    size = sum(path.stat().st_size for path in folder.glob("ids.*"))
    began = time.perf_counter()
    plan_epoch(batches.bucket_of_pair, batches.buckets, 0, seed=1)
    plan_seconds = time.perf_counter() - began
    print("| pairs | tokenized in | processor time | on disk | epoch planned in | memory |")
    print("|---|---|---|---|---|---|")
    print(
        f"| {batches.kept:,} | {seconds:.0f} s | {processor_seconds:.0f} s | "
        f"{size / batches.kept:.1f} bytes per pair | {plan_seconds:.2f} s | "
        f"{memory('RssAnon'):,.0f} MiB |\n"
    )
    return batches


def print_reading(batches, numbers_of_readers, seconds):
    """Prints how fast the Batches are read by each number of readers."""
    print("| readers | pairs/s, together | per processor second | own memory of each | mapped |")
    print("|---|---|---|---|---|", flush=True)
    for readers in numbers_of_readers:
        results = readings(batches, readers, seconds)
        pairs = sum(reading.pairs for reading in results)
        rate = sum(reading.pairs / reading.seconds for reading in results)
        processor_seconds = sum(reading.processor_seconds for reading in results)
        print(
            f"| {readers} | {rate:,.0f} | {pairs / processor_seconds:,.0f} | "
            f"{max(reading.own_memory for reading in results):,.0f} MiB | "
            f"{max(reading.mapped for reading in results):,.0f} MiB |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    bundled = [ROOT / "data" / "pt_en" / "train.tsv"]
    parser.add_argument("--train", nargs="+", type=Path, default=bundled, metavar="FILE")
    parser.add_argument("--pairs", type=int, default=2_000_000, metavar="N")
    parser.add_argument("--readers", type=int, nargs="+", default=(1, 2, 4), metavar="N")
    parser.add_argument("--seconds", type=float, default=15, help="that each reads, at most")
    flags.add_parameters(parser, ("batch_size", "vocab_size"))
    parser.set_defaults(batch_size=params.BATCH_SIZE, vocab_size=3000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        batches = print_tokenizing(args, Path(folder))
        print_reading(batches, args.readers, args.seconds)


if __name__ == "__main__":
    main()
