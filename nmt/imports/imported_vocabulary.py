"""The vocabulary of an imported model: as one SentencePiece model for each language.

A Marian model has two SentencePiece models and a table from their pieces to ids, in which PAD comes
last and nothing begins a source. Here, the entries of the table are put in this program's order
(PAD, UNKNOWN, START, END, then all others as they were), and a SentencePiece model is written for
each language whose ids these are: so that all that reads a run's tokenizer.model reads it, too.
Pieces of the other language are UNUSED in it, and pieces that the table lacks stand behind all:
Tokenizer looks up the text of each token, as Marian does.
"""

from __future__ import annotations

from typing import NamedTuple

from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]

from nmt import UserError
from nmt.imports.model_configuration import SpecialIds
from nmt.imports.model_folder import ModelFolder
from nmt.text.imported import Imported
from nmt.text.special_tokens import END, PAD, START, UNKNOWN

KIND = ModelProto.SentencePiece
USED = (KIND.NORMAL, KIND.USER_DEFINED, KIND.BYTE)
SHOWN_TAGS = 12


class Side(NamedTuple):
    """The vocabulary of one language."""

    names: list[str]  # of the entries, in this program's order
    rows: list[int]  # of the entries: their ids in the imported model
    model: bytes  # SentencePiece's, with these ids


class Vocabulary(NamedTuple):
    """The vocabulary of an imported model."""

    source: Side
    target: Side
    tag: str = ""  # that each source begins with

    def imported(self, model: str, model_license: str) -> Imported:
        """Returns what a run remembers of the imported model."""
        sizes = len(self.source.rows), len(self.target.rows)
        return Imported(model, model_license, *sizes, self.tag, self.has_two_models)

    @property
    def has_two_models(self) -> bool:
        """Whether each language has a SentencePiece model of its own."""
        return self.source.model != self.target.model


def read_vocabulary(folder: ModelFolder, ids: SpecialIds, tag: str | None) -> Vocabulary:
    """Returns the Vocabulary of a folder, for the target language of the tag, if it has several.

    A UserError if a file is missing or damaged, or the tag is none.
    """
    if folder.has("tokenizer.model"):  # this program's own
        if ids != (PAD, UNKNOWN, START, END):
            raise folder.error("tokenizer.model", "is not of an export of this program")
        model = folder.bytes_of("tokenizer.model")
        names = [piece.piece for piece in parse(folder, "tokenizer.model").pieces]
        side = Side(names, [*range(len(names))], model)
        check_tag(folder, [], tag)
        return Vocabulary(side, side)
    entries = read_entries(folder, "vocab.json")
    separate = folder.json_of("tokenizer_config.json", is_optional=True).get("separate_vocabs")
    targets = read_entries(folder, "target_vocab.json") if separate is True else entries
    tag = check_tag(folder, tags_in(entries), tag)
    return Vocabulary(
        side_of(folder, "source.spm", entries, ids, has_start=False),
        side_of(folder, "target.spm", targets, ids, has_start=True),
        tag,
    )


def read_entries(folder: ModelFolder, name: str) -> list[str]:
    """Returns the entries of a table of ids, in their order."""
    table = folder.json_of(name)
    numbers = [*table.values()]
    if not all(type(number) is int for number in numbers) or {*numbers} != {*range(len(numbers))}:
        raise folder.error(name, "its numbers are not those from 0 on, each once")
    return sorted(table, key=table.__getitem__)


def tags_in(entries: list[str]) -> list[str]:
    """Returns the tags of target languages among entries, such as >>por<<."""
    return [entry for entry in entries if entry.startswith(">>") and entry.endswith("<<")]


def check_tag(folder: ModelFolder, tags: list[str], tag: str | None) -> str:
    """Returns the tag, with its signs; a UserError unless it is one of the model's."""
    if not tags:
        if tag:
            raise UserError(f"--tag {tag}: {folder.path} has no tags; leave the flag out")
        return ""
    known = ", ".join(name.strip("<>") for name in tags[:SHOWN_TAGS])
    known += f" and {len(tags) - SHOWN_TAGS} more" if len(tags) > SHOWN_TAGS else ""
    if tag is None:
        raise UserError(
            f"{folder.path}: translates into several languages; name one: --tag ({known})"
        )
    full = f">>{tag.strip('<>')}<<"
    if full not in tags:
        raise UserError(f"--tag {tag}: {folder.path} has {known}; name one of them")
    return full


def side_of(
    folder: ModelFolder, name: str, entries: list[str], ids: SpecialIds, has_start: bool
) -> Side:
    """Returns the Side of the SentencePiece model of a name, with ids by the table of `entries`."""
    special = (ids.pad, ids.unknown, ids.start, ids.end)
    if not all(0 <= number < len(entries) for number in special):
        raise folder.error("config.json", f"special tokens {[*special]} are none of vocab.json")
    ordinary = [number for number in range(len(entries)) if number not in special]
    rows = [*special, *ordinary]
    start = entries[ids.start] if ids.start != ids.pad else "<s>"
    while ids.start == ids.pad and start in entries:
        start = f"<{start}>"
    names = [entries[number] for number in rows]
    names[START] = start
    return Side(names, rows, sentencepiece_model(parse(folder, name), names, has_start))


def parse(folder: ModelFolder, name: str) -> ModelProto:
    """Returns a SentencePiece model; a UserError if it is none."""
    data = folder.bytes_of(name)
    try:
        model = ModelProto.FromString(data)
    except Exception:  # the package of protocol buffers has several errors
        model = None
    if model is None or not model.pieces:
        raise folder.error(name, "is no SentencePiece model")
    return model


def sentencepiece_model(model: ModelProto, names: list[str], has_start: bool) -> bytes:
    """Returns a SentencePiece model that cuts text as `model` does, with other ids, as bytes.

    `names` are its entries in the order of the new ids. START may be among its special tokens.
    """
    used = {piece.piece: piece for piece in model.pieces if piece.type in USED}
    kinds = {
        PAD: KIND.CONTROL,
        UNKNOWN: KIND.UNKNOWN,
        START: KIND.CONTROL if has_start else KIND.UNUSED,
        END: KIND.CONTROL,
    }
    changed = ModelProto()
    changed.CopyFrom(model)
    del changed.pieces[:]
    for number, name in enumerate(names):
        piece = used.pop(name, None) if number not in kinds else None
        if piece is not None:
            changed.pieces.append(piece)
        else:
            changed.pieces.add(piece=name, score=0.0, type=kinds.get(number, KIND.UNUSED))
    special = {names[number] for number in kinds}
    changed.pieces.extend(piece for name, piece in used.items() if name not in special)
    trainer = changed.trainer_spec
    trainer.pad_piece, trainer.unk_piece = names[PAD], names[UNKNOWN]
    trainer.bos_piece, trainer.eos_piece = names[START], names[END]
    trainer.pad_id, trainer.unk_id, trainer.bos_id, trainer.eos_id = PAD, UNKNOWN, START, END
    trainer.vocab_size = len(changed.pieces)
    return bytes(changed.SerializeToString())
