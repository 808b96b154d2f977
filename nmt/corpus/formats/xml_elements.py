"""Elements of XML files, one after the other, by lxml: nothing outside the file is read.

Neither a DTD nor an entity of a file is used, and no network. A file may be as long as it likes:
an element is gone once the next one is asked for. Its encoding is the one that it declares.
"""

from collections.abc import Collection, Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nmt import UserError
from nmt.corpus.formats.format import one_line
from nmt.messages import plural
from nmt.text import encoding

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class Event(NamedTuple):
    """The start or the end of an element. At its start, it has its attributes and nothing else."""

    is_end: bool
    name: str  # without its namespace
    element: "Element"


def events(path: str | Path, starts: Collection[str], ends: Collection[str]) -> Iterator[Event]:
    """Yields the starts of elements of some names, and the ends of others, which are then removed.

    Names are without namespaces. A UserError says that the file cannot be read, is not XML, or
    declares or uses entities.
    """
    from lxml import etree

    with encoding.opened(path, encoded=True) as file:
        parser = etree.iterparse(
            file, events=("start", "end"), tag=[f"{{*}}{name}" for name in {*starts, *ends}],
            resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True,
            remove_pis=True,
        )  # fmt: skip
        is_first = True
        try:
            for kind, element in parser:
                if is_first:
                    _check_entities(element, path)
                    is_first = False
                name = element.tag.rpartition("}")[2]
                if kind == "start" and name in starts:
                    yield Event(False, name, element)
                elif kind == "end" and name in ends:
                    _refuse_entity_in(element, path)
                    yield Event(True, name, element)
                    _remove(element)
        except etree.XMLSyntaxError as error:
            what = f"is not well-formed XML ({_one_line(error)})"
            raise UserError(f"{path}: {what}; repair it, or export it again") from None


def child(element: "Element", name: str) -> "Element | None":
    """Returns the first child of an element with a name, in any namespace."""
    return next(element.iterchildren(f"{{*}}{name}"), None)


def text_of(element: "Element", without: Container[str]) -> str:
    """Returns the text within an element as one line, `without` elements that hold codes."""
    return one_line("".join(_pieces(element, without))).strip(" ")


def language_of(element: "Element") -> str:
    """Returns the code of the language of an element, or an empty string."""
    return element.get(LANGUAGE) or element.get("lang") or ""


def left_out_line(path: str | Path, number: int, units: int, why: str) -> str:
    """Returns the line that says how many of the units of a file are left out, and why."""
    return f"{path}: {number:,} of {plural(units, 'unit')} left out: {why}."


def _pieces(element: "Element", without: Container[str]) -> Iterator[str]:
    yield element.text or ""
    for inner in element:
        if inner.tag.rpartition("}")[2] not in without:
            yield from _pieces(inner, without)
        yield inner.tail or ""


def _remove(element: "Element") -> None:
    """Frees the memory of an element and of what stands before it."""
    element.clear()
    parent = element.getparent()
    while element.getprevious() is not None:
        del parent[0]


def _check_entities(element: "Element", path: str | Path) -> None:
    """Raises a UserError if the DTD of a file declares entities: a few lines can be an attack."""
    dtd = element.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise UserError(
            f"{path}: declares entities, which are not read for safety; export it without a DTD"
        )


def _refuse_entity_in(element: "Element", path: str | Path) -> None:
    from lxml import etree

    entity = next(element.iter(etree.Entity), None)
    if entity is not None:
        raise UserError(
            f"{path}:{entity.getparent().sourceline}: uses the entity {entity.text}, which no XML "
            "file knows by itself; write the character"
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(getattr(error, "msg", None) or "empty").split())[:120]
