"""The corpus of a trained run, loaded again: the same text, wherever its files are now."""

from nmt import UserError
from nmt.corpus import corpora
from nmt.runs.claim import HASH_LABELS
from nmt.runs.folder import Run

HASHED_TEXT = {"train_sha256", "validation_sha256", "test_sha256"}


def load_corpus_of(
    run: Run, split: str, moved: dict[str, list[str] | None] | None = None
) -> corpora.Corpus:
    """Returns the Corpus that a run was trained on; a UserError if its `split` has changed.

    `moved` are lists of files by split, where they are now if not where they were.
    """
    if not run.parameters.hashes.keys() & HASHED_TEXT:
        raise UserError(
            f"{run.path}: an imported model comes without text; name files: evaluate FILE FILE"
        )
    source = run.parameters.corpus.with_files(**(moved or {}))
    if not source.is_of_files and moved and moved.get("test"):
        raise UserError(
            f"--test: the test split is that of {source.dataset}; leave it out, or score other "
            "text: evaluate FILE FILE"
        )
    corpus = corpora.load_corpus(source, run.parameters.options.seed, only=split)
    check_text(run, split, corpora.fingerprint(getattr(corpus, split)))
    return corpus


def check_test_split(
    run: Run, corpus: corpora.Corpus, moved: dict[str, list[str] | None] | None = None
) -> None:
    """Raises a UserError if a run has another test split than `corpus` has."""
    other_corpus = load_corpus_of(run, "test", moved)
    if corpora.fingerprint(other_corpus.test) != corpora.fingerprint(corpus.test):
        raise UserError(
            f"{run.path}: has another test split, so may have been trained on this one; name files "
            "to score both on: evaluate FILE FILE"
        )


def check_text(run: Run, split: str, sha256: str) -> None:
    """Raises a UserError if the text of a split is not what a run was trained on."""
    if run.parameters.hashes.get(f"{split}_sha256") != sha256:
        raise UserError(
            f"{run.path}: the {HASH_LABELS[f'{split}_sha256']} has changed since the run was "
            "trained (the files, or the split); restore it, or name files to evaluate"
        )
