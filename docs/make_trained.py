"""Train the run that comes with the program: data/trained/, used where runs/ holds none.

    python docs/make_trained.py [--run DIR] [--out DIR]

It trains preset quick on corpus bundled-conversation, for more passes, with dropout and with a
fifth of the sources as people type them, or resumes that in DIR, by default runs/trained, and
writes to OUT, by default data/trained, what translating needs: the parameters, the tokenizer, the
final weights (without the optimizer's state; for CTranslate2, too), and what pictures need: the
history, the scores and the test translations. On two idle CPU cores it takes about 20 minutes.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FLAGS = (
    "--preset", "quick", "--dataset", "bundled-conversation", "--epochs", "20",
    "--dropout-rate", "0.1", "--augment", "0.2", "--no-plots",
)  # fmt: skip
FILES = ("params.json", "tokenizer.model", "history.json", "translations.txt")


def write_weights(run, out):
    """Write the final weights of a run into another, and what names them: scores, confidence."""
    from nmt.runs import conversion, loading, weights
    from nmt.runs.folder import Run
    from nmt.training.named_state import NamedState

    _, tokenizer, model = loading.load(run, checkpoint="final")
    state = NamedState(model.transformer, epoch=model.epoch, steps=model.steps)
    state.write(str(out / "checkpoints" / "final" / f"ckpt-{int(model.epoch)}"))
    for name in ("scores.json", "confidence.json"):
        content = Run(run).read(name)
        content["checkpoint"] = weights.choose_weights(Run(out), "final").record
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (out / name).write_text(text, encoding="utf-8")
    conversion.write(
        Run(out), weights.choose_weights(Run(out), "final"), tokenizer, model.networks()
    )


def main():
    """Train, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, default=Path("runs/trained"), help="folder to train in")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "data" / "trained", help="folder to write to"
    )
    args = parser.parse_args()
    program = [sys.executable, str(ROOT / "run_demo.py")]
    subprocess.run([*program, *FLAGS, "--run", str(args.run)], check=True)
    shutil.rmtree(args.out, ignore_errors=True)
    (args.out / "checkpoints" / "final").mkdir(parents=True)
    for name in FILES:
        shutil.copy(args.run / name, args.out / name)
    write_weights(args.run, args.out)


if __name__ == "__main__":
    main()
