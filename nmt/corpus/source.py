"""Where the text of a corpus comes from: a data set or files, and what of them is read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt import UserError
from nmt.corpus import files
from nmt.corpus.formats.format import Selection
from nmt.text.languages import Pair, canonical, matches
from nmt.text.languages import target_language as target_of

BUILT_IN_LANGUAGES = {  # of corpora.BUILT_IN_CORPORA
    "bundled": Pair("pt", "en"),
    "bundled-conversation": Pair("pt", "en"),
    "bundled-zh": Pair("zh", "en"),
    "winter-games": Pair("en", "zh"),
}
REVERSED = ", reversed"  # ends the name of a corpus whose targets are translated into its sources


@dataclasses.dataclass(frozen=True)
class CorpusSource:
    """Where the text of a corpus comes from: a data set, or files by split."""

    dataset: str | None = None  # a TFDS name, one of BUILT_IN_CORPORA or a file of pairs
    train: tuple[str, ...] = ()  # files, see `files.grouped`
    valid: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    reverse: bool = False  # whether the second language is translated into the first
    languages: tuple[str, ...] = ()  # codes of source and target; () if they are unknown
    columns: tuple[str, ...] = ()  # of tables, by name or number; () for the first two
    sheet: str | None = None  # of a spreadsheet; None for that with the most text
    header: bool = True  # False if the first row of a table is a pair

    def __post_init__(self) -> None:
        if self.dataset is None and not self.train:
            raise UserError("corpus names neither a data set nor files")

    # ---- Its form in params.json ----

    @classmethod
    def from_json(cls, content: object) -> CorpusSource:
        """Returns the source that `to_json` wrote; the UserError does not name the file."""
        if not isinstance(content, dict) or not _is_valid(content):
            raise UserError("corpus names neither a data set nor files")
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in content.items()
        }
        return cls(**fields)

    def to_json(self) -> dict[str, Any]:
        """Returns an object of JSON with the fields that differ from their defaults."""
        return {
            field.name: [*value] if isinstance(value, tuple) else value
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != field.default
        }

    # ---- What it says ----

    @property
    def is_of_files(self) -> bool:
        """Whether the user's files hold the training text."""
        return self.dataset is None or files.is_table(self.dataset)

    @property
    def training_files(self) -> tuple[str, ...]:
        """The files of the training text; () if it is of a data set by name."""
        if self.dataset is None:
            return self.train
        return (self.dataset,) if self.is_of_files else ()

    @property
    def held_out(self) -> list[str]:
        """Those of "valid" and "test" that are held out of the training files: they name none."""
        named = {"valid": self.valid, "test": self.test}
        return [split for split, paths in named.items() if self.is_of_files and not paths]

    @property
    def target_language(self) -> str | None:
        """The code of the language that the corpus is translated into; None if unknown."""
        return target_of(self.languages)

    @property
    def languages_of_files(self) -> tuple[str, ...]:
        """The codes of the languages in the order of the files."""
        return self.languages[::-1] if self.reverse else self.languages

    @property
    def selection(self) -> Selection:
        """Which two sides of its files the corpus is."""
        codes, columns = self.languages_of_files, self.columns
        return Selection(
            Pair(*codes) if len(codes) == 2 else None,
            (columns[0], columns[1]) if columns else None,
            self.sheet,
            self.header,
        )

    def full_name(self, name: str) -> str:
        """Returns the `name` of the corpus, and whether it is reversed."""
        return name + REVERSED if self.reverse and not name.endswith(REVERSED) else name

    # ---- Others that are made of it ----

    def with_files(
        self,
        train: Sequence[str] | None = None,
        valid: Sequence[str] | None = None,
        test: Sequence[str] | None = None,
    ) -> CorpusSource:
        """Returns the source with other files of some splits.

        Training files stand in place of a data set.
        """
        return dataclasses.replace(
            self,
            dataset=None if train else self.dataset,
            train=tuple(train or self.train),
            valid=tuple(valid or self.valid),
            test=tuple(test or self.test),
        )

    def with_known_languages(self) -> CorpusSource:
        """Returns the source with its languages, if known; those of its files come last."""
        if self.languages:
            return self
        pair = self._find_languages()
        codes = tuple(pair) if pair else ()
        return dataclasses.replace(self, languages=codes[::-1] if self.reverse else codes)

    def _find_languages(self) -> Pair | None:
        if self.dataset in BUILT_IN_LANGUAGES:
            return BUILT_IN_LANGUAGES[self.dataset]
        if self.dataset and not self.is_of_files:
            return _languages_in_name(self.dataset)
        for paths in (self.training_files, self.valid, self.test):  # one corpus of files, or more
            groups = files.grouped(paths)
            named = [files.languages_of(group.paths, self.selection) for group in groups]
            if pairs := {pair for pair in named if pair}:  # those of one split suffice
                return _widest(pairs)
        return None


def _is_valid(content: dict[str, Any]) -> bool:
    defaults = {field.name: field.default for field in dataclasses.fields(CorpusSource)}
    return all(
        name in defaults and _is_of_type(value, defaults[name]) for name, value in content.items()
    )


def _is_of_type(value: object, default: object) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, list) and value != [] and all(type(text) is str for text in value)
    return isinstance(value, bool if isinstance(default, bool) else str)


def _languages_in_name(name: str) -> Pair | None:
    """Returns the codes in the name of a TFDS dataset: "ted_hrlr_translate/pt_to_en"; or None."""
    match = re.search(r"/([a-z]{2,3})(?:_to_|-|_)([a-z]{2,3})(:.*)?$", name)
    if not match:
        return None
    source, target = map(canonical, match.groups()[:2])
    return Pair(source, target) if source and target else None


def _widest(pairs: set[Pair]) -> Pair | None:
    """Returns the languages of which all pairs of languages are, perhaps as regions; or None."""
    widest = min(pairs, key=lambda pair: (len(pair.source) + len(pair.target), pair))
    return widest if all(all(map(matches, widest, pair)) for pair in pairs) else None


def file_names(paths: Sequence[str | Path]) -> str:
    """Returns the name of the corpus that consists of these files."""
    return " ".join(Path(path).name for path in paths)
