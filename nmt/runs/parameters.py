"""The parameters of a run, which params.json holds, and whether their flags allow them."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from nmt import UserError, machine
from nmt.corpus.source import CorpusSource
from nmt.neighbors import params
from nmt.options import Options, error_in_row
from nmt.text.imported import Imported

MAX_PARTS = 64  # of a batch on a device, that params.json may name
CODE = re.compile(r"[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,8}")  # also part of names of files
WHERE_MISSING = {"parts": 1, "xla": "off"}  # beside the defaults of params.py


def in_effect(name: str, options: Options) -> Any:
    """Returns the value of an option; 0 layers of the decoder mean as many as of the encoder."""
    return options.layers_of_decoder if name == "decoder_layers" else getattr(options, name)


@dataclass(frozen=True)
class Parameters:
    """What params.json holds: all that makes the run what it is."""

    options: Options
    corpus: CorpusSource
    hashes: dict[str, str]  # of contents, by the names of claim.HASH_LABELS
    parts: int = 1  # of a batch on a device; see `devices.configure`
    parent: str | None = None  # the path of the run that it began from
    versions: dict[str, str] = field(default_factory=dict)  # of the libraries that trained it last
    spells_numbers: bool = False  # whether its text writes some numbers of the source as words
    imported: Imported | None = None  # the model that it, or the first of its parents, was made of

    @classmethod
    def of_imported(
        cls, options: Options, languages: tuple[str, ...], imported: Imported, tokenizer_sha256: str
    ) -> "Parameters":
        """Returns those of a run that is made of an imported model, whose text is not known."""
        corpus = CorpusSource(dataset=imported.model, languages=languages)
        hashes = {"tokenizer_sha256": tokenizer_sha256}
        return cls(options, corpus, hashes, versions=machine.versions(), imported=imported)

    @property
    def identity(self) -> int:
        """A number that identifies the run: equal for equal options and hashes."""
        content = json.dumps(self.options.by_name() | self.hashes, sort_keys=True)
        return int.from_bytes(hashlib.sha256(content.encode()).digest()[:6], "big")

    @property
    def content(self) -> dict[str, Any]:
        """The content of params.json."""
        content: dict[str, Any] = {"parent": self.parent} if self.parent else {}
        content |= self.options.by_name() | self.hashes
        content |= {"parts": self.parts, "corpus": self.corpus.to_json()}
        content["spells_numbers"] = self.spells_numbers
        if self.imported:
            content["imported"] = self.imported._asdict()
        return content | ({"versions": self.versions} if self.versions else {})


def parse(content: Any) -> Parameters:
    """Returns the Parameters that params.json holds. A missing option has its default.

    A UserError for a value that is not allowed does not name the file.
    """
    if not isinstance(content, dict):
        raise UserError("is not an object")
    values = params.values() | WHERE_MISSING | content
    if wrong := error_in_options(values):
        raise UserError(wrong)
    parts, xla = values["parts"], values["xla"]
    if type(parts) is not int or not 1 <= parts <= MAX_PARTS or xla not in ("on", "off"):
        raise UserError(f"parts is {parts!r}, xla {xla!r}")
    corpus = CorpusSource.from_json(values.get("corpus"))
    if not all(map(CODE.fullmatch, corpus.languages)):
        raise UserError(f"languages are {[*corpus.languages]!r}, not codes such as pt and en")
    spells_numbers = values.get("spells_numbers", False)
    if type(spells_numbers) is not bool:
        raise UserError(f"spells_numbers is {spells_numbers!r}")
    parent, versions = values.get("parent"), values.get("versions")  # for the reader alone
    return Parameters(
        options=Options(**{row.name: values[row.name] for row in params.table()}),
        corpus=corpus,
        hashes={name: str(value) for name, value in values.items() if name.endswith("_sha256")},
        parts=parts,
        parent=str(parent) if parent else None,
        versions=versions if isinstance(versions, dict) else {},
        spells_numbers=spells_numbers,
        imported=_imported_in(values),
    )


def _imported_in(values: dict[str, Any]) -> Imported | None:
    """Returns the Imported model that params.json names, if any; a UserError if it is damaged."""
    if "imported" not in values:
        return None
    try:
        imported = Imported(**values["imported"])
        types = {name: type(value) for name, value in imported._asdict().items()}
        if (
            types != get_type_hints(Imported)
            or imported.entries <= 0
            or imported.target_entries <= 0
        ):
            raise ValueError
    except (TypeError, ValueError):
        raise UserError(f"imported is {values['imported']!r}") from None
    return imported


def error_in_options(values: dict[str, Any]) -> str | None:
    """Returns as text the first of `values` that its flag does not allow; None if all are right."""
    errors = (error_in_row(row, values[row.name]) for row in params.table())
    if wrong := next(filter(None, errors), None):
        return wrong
    if values["d_model"] % values["num_heads"]:
        return f"d_model {values['d_model']} is not a multiple of num_heads {values['num_heads']}"
    return None
