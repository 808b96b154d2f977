"""How many beginner's sentences a run translates right.

    python benchmarks/beginner_sentences.py --run runs/bundled [--list FILE] [--wrong]

A line of a list is a source sentence, then the accepted English answers, separated by tabs;
`[is|are]` in an answer stands for either word. A translation is right if it is one of the answers,
character by character. The search is that of `run_demo.py translate`.

The default list, `beginner_sentences.tsv`, was written before any training, but the corpus has
grown since by what it showed. Whoever wrote `independent_sentences.tsv` had not seen the corpus;
what failed of it chose the topics of `data/phrases.tsv`. `learners_sentences.tsv` is by two
learners who had not seen the project. For `--dataset bundled-zh` there are
`beginner_sentences_zh.tsv` and `independent_sentences_zh.tsv`.

Prints the share, and how many sentences are training text of the run; with `--wrong`, also every
wrong translation, with the first accepted answer.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.corpus.corpora import BUILT_IN_CORPORA

HERE = Path(__file__).resolve().parent


def expanded(answer):
    """Returns all sentences that an answer with choices such as `[is|are]` stands for."""
    parts = [part.split("|") for part in re.split(r"[\[\]]", answer)]
    return ["".join(words) for words in itertools.product(*parts)]


def read_list(path):
    """Returns the accepted answers by source sentence."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {
        source: [sentence for answer in answers for sentence in expanded(answer)]
        for source, *answers in rows
    }


def translations(run, sources):
    """Returns what `run_demo.py translate` makes of the sentences."""
    command = [sys.executable, HERE.parent / "run_demo.py", "translate", "--run", run]
    text = "".join(f"{source}\n" for source in sources)
    process = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    if process.returncode:
        raise SystemExit(process.stderr)
    return process.stdout.splitlines()


def training_sources(run):
    """Returns the sources that a run was trained on; of another than a bundled corpus, none."""
    params = json.loads((run / "params.json").read_text(encoding="utf-8"))
    paths, *_ = BUILT_IN_CORPORA.get(params["corpus"]["dataset"], [[]])
    return {
        line.split("\t")[0]
        for path in paths
        for line in path.read_text(encoding="utf-8").splitlines()
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", required=True, type=Path, help="folder of a trained run")
    parser.add_argument(
        "--list", type=Path, default=HERE / "beginner_sentences.tsv", help="sentences and answers"
    )
    parser.add_argument("--wrong", action="store_true", help="print the wrong translations, too")
    args = parser.parse_args()

    accepted = read_list(args.list)
    translated = dict(zip(accepted, translations(args.run.resolve(), accepted), strict=True))
    wrong = [source for source in accepted if translated[source] not in accepted[source]]
    if args.wrong:
        for source in wrong:
            print(source, translated[source], accepted[source][0], sep="\t")
    right = len(accepted) - len(wrong)
    known = training_sources(args.run)
    counted = f"; {len(known & accepted.keys())} are training text" if known else ""
    print(f"{right} of {len(accepted)} right: {right / len(accepted):.1%}{counted}")


if __name__ == "__main__":
    main()
