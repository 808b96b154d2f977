"""Corpora: the bundled ones, files of pairs, aligned files, and TFDS datasets."""

import functools
import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError
from nmt.corpus import downloads, files
from nmt.corpus.datasets import CHUNK, Dataset, text_dataset
from nmt.corpus.formats.format import Selection
from nmt.corpus.source import CorpusSource, file_names
from nmt.messages import log, plural
from nmt.neighbors import data_folder
from nmt.text import spelling
from nmt.text.languages import Pair, overlap

if TYPE_CHECKING:  # which takes seconds to import
    import tensorflow as tf

DATA = data_folder()
SPLIT_NAMES = ("train", "validation", "test")
BUNDLED = [[DATA / "pt_en" / f"{split}.tsv"] for split in SPLIT_NAMES]
BUILT_IN_CORPORA = {  # files of training, validation and test pairs
    "bundled": BUNDLED,
    "bundled-conversation": [[*BUNDLED[0], DATA / "pt_en" / "conversation.tsv"], *BUNDLED[1:]],
    "bundled-zh": [[DATA / "zh_en" / f"{split}.tsv"] for split in SPLIT_NAMES],
    "winter-games": [[DATA / "winter_games.tsv"]] * 3,  # one pair, to be memorized
}
HELD_OUT_SHARE, MAX_HELD_OUT = 0.02, 1000  # pairs, for each of validation and test
SPARE_SOURCES = 100  # drawn in case that a part would get none
FREQUENT_PAIRS, FREQUENT_SHARE = 10, 0.1  # of one source in a part, at most the greater of both


class Corpus(NamedTuple):
    """A named parallel corpus; each split is a Dataset."""

    name: str
    train: Dataset  # None if not loaded: who asks for one split reads no other
    validation: Dataset
    test: Dataset

    def splits(self) -> dict[str, Dataset]:
        """Returns the loaded datasets by name of their split."""
        datasets = zip(SPLIT_NAMES, (self.train, self.validation, self.test), strict=True)
        return {split: dataset for split, dataset in datasets if dataset is not None}


# ---- What a dataset holds ----


def as_line(pair: Sequence[str]) -> bytes:
    """Returns the line that stands for a pair in a `fingerprint`."""
    return ("\t".join(pair) + "\n").encode()


def normal_pair(pair: tuple[str, str]) -> tuple[str, str]:
    """Returns a pair as it is trained on: in its normal form."""
    source, target = pair
    return spelling.trimmed(source), spelling.trimmed(target)


def fingerprint(dataset: Dataset) -> str:
    """Returns the SHA-256 of all pairs of a dataset, in their order, as hexadecimal digits."""
    digest = hashlib.sha256()
    for pair in dataset:
        digest.update(as_line(pair))
    return digest.hexdigest()


def trained_on(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a dataset as they are trained on: in their normal form."""
    return map(normal_pair, dataset)


# ---- Corpora ----


def _pairs_of_sources(
    dataset: Dataset, drawn: set[int], side: int
) -> tuple[dict[int, str], dict[str, list[int]]]:
    """Returns the sources of drawn pairs by their numbers, and the numbers of all pairs of each."""
    source_of = {
        number: pair[side] for number, pair in enumerate(trained_on(dataset)) if number in drawn
    }
    numbers: dict[str, list[int]] = {source: [] for source in source_of.values() if source}
    for number, pair in enumerate(trained_on(dataset)):
        if pair[side] in numbers:
            numbers[pair[side]].append(number)
    return source_of, numbers


def held_out_numbers(dataset: Dataset, parts: int, seed: int, side: int) -> list[list[int]]:
    """Returns the numbers of the pairs that `hold_out` holds out, a list for each part.

    Sources are drawn by drawing pairs. All pairs of a drawn source go to the same part, until it
    has enough; sources are compared in the spelling in which they are trained on. A blank source is
    never drawn; one of many pairs, which would fill a part alone, only if there are few others.
    """
    pairs, rng = len(dataset), random.Random(seed)
    size = min(MAX_HELD_OUT, max(1, int(pairs * HELD_OUT_SHARE)))  # pairs in a part
    too_few = UserError(
        f"the training data holds {plural(pairs, 'pair')}, too few of different sources to hold "
        "some out; name --valid and --test files"
    )
    if pairs <= size * parts:
        raise too_few
    drawn = rng.sample(range(pairs), size * parts)
    spare = rng.sample(range(pairs), min(pairs, SPARE_SOURCES))  # where a part would get none
    source_of, numbers = _pairs_of_sources(dataset, {*drawn, *spare}, side)

    def add(chosen: list[int], candidates: list[int], enough: int, most: int) -> None:
        """Adds all pairs of the sources of candidates, each of at most `most`, until `enough`."""
        for source in map(source_of.__getitem__, candidates):
            if len(chosen) < enough and len(numbers.get(source, [])) <= most:
                chosen += numbers.pop(source, [])

    held_out: list[list[int]] = [[] for _ in range(parts)]
    for part, chosen in enumerate(held_out):
        drawn_for_part = drawn[part * size : (part + 1) * size]
        add(chosen, drawn_for_part, size, most=max(FREQUENT_PAIRS, int(size * FREQUENT_SHARE)))
        if len(chosen) < size / 2:  # the corpus has few sources
            add(chosen, drawn_for_part, size, most=pairs)
        add(chosen, spare, 1, most=pairs)
        if not chosen:
            raise too_few
    if sum(map(len, held_out)) == pairs:
        raise too_few
    return held_out


def hold_out(dataset: Dataset, parts: int, seed: int, side: int = 0) -> list[Dataset]:
    """Splits a seeded 2% (at least 1 pair, about 1,000 at most) off `dataset`, `parts` times.

    A part is larger only if there are few sources, with many pairs each. No source, the `side` 0 or
    1 of a pair, is in two of the results: what is translated otherwise in each of its pairs would
    be known from training. Returns what remains, then each part.
    """
    if not parts:
        return [dataset]
    held_out = held_out_numbers(dataset, parts, seed, side)
    part_of = {number: part for part, chosen in enumerate(held_out, 1) for number in chosen}
    remaining = len(dataset) - len(part_of)
    return [
        Dataset(functools.partial(_read_part, dataset, part_of, part), size)
        for part, size in enumerate([remaining, *map(len, held_out)])
    ]


def _read_part(
    dataset: Dataset, part_of: Mapping[int, int], part: int
) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a dataset that are in a part; those not in `part_of` are in part 0."""
    return (pair for number, pair in enumerate(dataset) if part_of.get(number, 0) == part)


def complete(name: str, splits: dict[str, Dataset], seed: int, side: int = 0) -> Corpus:
    """Returns the Corpus of `splits`, datasets by name; missing ones are held out of training."""
    missing = [split for split in ("validation", "test") if split not in splits]
    pairs = len(splits["train"])
    train, *held_out_pairs = hold_out(splits["train"], len(missing), seed, side)
    splits = splits | {"train": train}
    for split, dataset in zip(missing, held_out_pairs, strict=True):
        log.info(
            f"{name} has no {split} split: {len(dataset)} of {pairs} pairs are held out for it."
        )
        splits[split] = dataset
    return Corpus(name, **splits)


def warn_of_both_directions(
    train: Sequence[files.Group], directions: Sequence[Pair | None]
) -> None:
    """Logs that training files are in both directions of two languages: tags may help."""
    by_direction = dict(zip(directions, train, strict=True))
    for direction, group in by_direction.items():
        if not direction:
            continue
        if other := by_direction.get(Pair(direction.target, direction.source)):
            log.warning(
                f"{file_names(group.paths)} is {direction.source} to {direction.target}, "
                f"{file_names(other.paths)} the other direction: both are read as they are."
            )
            return


def check_direction(
    group: files.Group, directions: Sequence[Pair | None], selection: Selection
) -> None:
    """Raises a UserError if a group is in the other direction than all training files.

    Those are in `directions`, None where they are unknown.
    """
    here, there = files.languages_of(group.paths, selection), directions[0]
    if not here or not there or len({*directions}) > 1:
        return
    if not overlap(here.source, there.source) and overlap(here.source, there.target):
        raise UserError(
            f"{file_names(group.paths)}: is {here.source} to {here.target}, and the training text "
            f"{there.source} to {there.target}; name the files in its order (if the files or "
            f"columns have wrong names, add --languages {there.source}-{there.target})"
        )


def check_directions(source: CorpusSource) -> None:
    """Raises a UserError if held-out files are in the other direction than all training files."""
    selection, groups = source.selection, files.grouped(source.training_files)
    directions = [files.languages_of(group.paths, selection) for group in groups]
    warn_of_both_directions(groups, directions)
    for group in [*files.grouped(source.valid), *files.grouped(source.test)]:
        check_direction(group, directions, selection)


def from_files(source: CorpusSource, seed: int, only: str | None = None) -> Corpus:
    """Returns the Corpus of a source of files; what it names no files for is held out.

    Its sides are in the order of the files. If `only` names a split that has files of its own,
    others are not loaded.
    """
    train, selection = source.training_files, source.selection
    named = {"train": train, "validation": source.valid, "test": source.test}
    if not selection.languages and not only:
        check_directions(source)
    if only and named[only] and (only != "train" or not source.held_out):
        needed = text_dataset(named[only], selection)
        splits: dict[str, Any] = dict.fromkeys(named) | {only: needed}
        return Corpus(file_names(train), **splits)
    if source.held_out and any(files.weighted(file).weight > 1 for file in train):
        raise UserError(
            "weights need --valid and --test files: pairs that are held out would be repeated, too"
        )
    splits = {split: text_dataset(paths, selection) for split, paths in named.items() if paths}
    return complete(file_names(train), splits, seed, int(source.reverse))


def built_in(name: str) -> Corpus:
    """Returns one of BUILT_IN_CORPORA."""
    splits = zip(SPLIT_NAMES, BUILT_IN_CORPORA[name], strict=True)
    return complete(name, {split: text_dataset(paths) for split, paths in splits}, seed=0)


def sentences_to_try(name: str) -> list[str]:
    """Returns sentences that a visitor may try on a model of a bundled corpus; [] for others."""
    lines = (DATA / "sentences_to_try.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [sentence for corpus, sentence in rows if corpus == name]


def _of_tensors(tensors: "tf.data.Dataset") -> Dataset:
    from nmt.corpus.autotuning import without_autotuning

    chunks = without_autotuning(tensors.batch(CHUNK))

    def read() -> Iterator[tuple[str, str]]:
        for sources, targets in chunks.as_numpy_iterator():
            for source, target in zip(sources, targets, strict=True):
                yield source.decode(), target.decode()

    return Dataset(read, len(tensors))


def load_tfds(name: str, seed: int, side: int = 0) -> Corpus:
    """Returns the Corpus of a TFDS translation dataset, which is downloaded if necessary."""
    import tensorflow_datasets as tfds

    builder = downloads.parallel_text(name)
    splits = builder.info.splits
    # Not cached by TFDS, which would hold a small corpus in memory.
    reading = dict(as_supervised=True, read_config=tfds.ReadConfig(try_autocache=False))
    validation = "dev" if "validation" not in splits and "dev" in splits else "validation"
    sources = {
        split: _of_tensors(builder.as_dataset(split=named, **reading))
        for split, named in zip(SPLIT_NAMES, ("train", validation, "test"), strict=True)
        if named in splits
    }
    return complete(name, sources, seed, side)


def load_corpus(
    source: CorpusSource, seed: int, may_fall_back: bool = False, only: str | None = None
) -> Corpus:
    """Returns the Corpus of a source: of it, perhaps, `only` a split.

    If it may fall back, the bundled corpus takes the place of a download that fails. A UserError
    says that it is not available, or is no parallel text.
    """
    corpus = load_forward(source, seed, may_fall_back, only)
    if not source.reverse:
        return corpus
    splits = {split: data.swap() for split, data in corpus.splits().items()}
    return corpus._replace(name=source.full_name(corpus.name), **splits)


def load_forward(source: CorpusSource, seed: int, may_fall_back: bool, only: str | None) -> Corpus:
    """Returns what `load_corpus` does, in the direction of the files."""
    if source.is_of_files:
        return from_files(source, seed, only)
    name, side = str(source.dataset), int(source.reverse)
    if source.valid or source.test:
        raise UserError("--valid and --test go with --train or with a .tsv as --dataset")
    if name in BUILT_IN_CORPORA:
        return built_in(name)
    if files.is_file(name):
        raise UserError(f"--dataset {name}: is a file; name a .tsv, or files with --train")
    try:
        return load_tfds(name, seed, side)
    except ConnectionError as error:
        if not may_fall_back:
            raise UserError(
                f"--dataset {name}: {error}; connect to the network, or name 'bundled' or your own "
                "files"
            ) from None
        log.warning(f"{name} cannot be downloaded ({error}): using the bundled corpus instead.")
        return built_in("bundled")
