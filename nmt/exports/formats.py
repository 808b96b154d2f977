"""The formats of exported models: each is a module with a function `write`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from nmt.exports.exported_model import Export


class Format(NamedTuple):
    """A format of exported models."""

    module: str  # in this package
    file_name: str  # in export/ of the run
    quantizations: tuple[str, ...] = ()
    has_languages: bool = False  # its files name the languages
    has_version: bool = False  # of its package
    translates_one_pair: bool = False  # of languages, not into several
    has_bfloat16: bool = True
    ending: str = ""  # that a path must have
    is_numbered: bool = False  # a new version is written beside older ones

    def write(self, path: Path, export: Export) -> None:
        """Writes an export to a new path; a UserError if it lacks a package, or cannot.

        The module of the format, and what that needs, is imported now.
        """
        import_module(f"nmt.exports.{self.module}").write(path, export)


FORMATS = {
    "saved_model": Format("saved_model", "saved_model", is_numbered=True),
    "keras": Format("keras_file", "model.keras", ending=".keras"),
    "ctranslate2": Format("ctranslate2_model", "ctranslate2", ("int8", "float16")),
    "huggingface": Format("hugging_face", "huggingface", has_languages=True),
    "argos": Format(
        "argos", "package.argosmodel", ("int8", "float16"), has_languages=True, has_version=True,
        translates_one_pair=True,
    ),
    "litert": Format("litert", "litert", ("int8",), has_bfloat16=False),
    "html": Format("html_file", "translator.html", has_languages=True),
}  # fmt: skip


def formats_with(rule: str) -> list[str]:
    """Returns the names of the formats for which a field of Format is true."""
    return sorted(name for name, form in FORMATS.items() if getattr(form, rule))
