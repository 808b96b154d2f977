"""What must be known of a corpus before it is tokenized: found in one pass over its text."""

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from nmt.corpus import corpora
from nmt.corpus.corpora import Corpus
from nmt.corpus.datasets import Dataset
from nmt.text.tokenizer import NumberCount


class Survey(NamedTuple):
    """What a pass over each split of a corpus finds."""

    hashes: dict[str, str]  # fingerprints by name of the split; see `corpora.fingerprint`
    repeated_validation: int  # pairs of the validation split that occur in the training text
    repeated_test: int  # pairs of the test split that do


def survey(corpus: Corpus, sample: NumberCount | None = None) -> Survey:
    """Reads each split of a corpus, all of them loaded, once. Returns the Survey.

    Pairs are compared in the spelling in which they are trained on; equal ones count once. All
    pairs of the training text are added to the sample, if there is one.
    """
    digests = {split: hashlib.sha256() for split in ("train", "validation", "test")}
    validation = set(_read(corpus.validation, digests["validation"]))
    test = set(_read(corpus.test, digests["test"]))
    repeated = set()
    for pair in _read(corpus.train, digests["train"]):
        if pair in validation or pair in test:
            repeated.add(pair)
        if sample is not None:
            sample.add(*pair)
    hashes = {split: digest.hexdigest() for split, digest in digests.items()}
    return Survey(hashes, len(repeated & validation), len(repeated & test))


def _read(dataset: Dataset, digest: "hashlib._Hash") -> Iterator[tuple[str, str]]:
    """Yields the pairs of a dataset as they are trained on; updates a digest with their bytes."""
    for pair in dataset:
        digest.update(corpora.as_line(pair))
        yield corpora.normal_pair(pair)
