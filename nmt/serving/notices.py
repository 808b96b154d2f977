"""The `warnings` of every API's answers: what a client must know beside a translation."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from nmt.documents.report import Group, Report
from nmt.serving.detection import Detection
from nmt.text.language_names import language_name
from nmt.text.tokenizer import MAX_SOURCE_TOKENS

KINDS = (
    MISSING, ADDED, CUT, LONG,  # of a translation
    UNRECOGNIZED, UNCHANGED,  # of a text
    IGNORED,  # of a request
    LEFT, CHANGED, EMPTY,  # of a file
) = (
    "missing", "added", "cut", "long", "unrecognized", "unchanged", "ignored", "left", "changed",
    "empty",
)  # fmt: skip


class Notice(NamedTuple):
    """A warning about a translation."""

    kind: str  # one of KINDS: for programs, and for the page, which words it itself
    message: str  # for people
    items: list[str]  # that the message names


def answers(notices: Sequence[Notice]) -> list[dict[str, Any]]:
    """Returns notices as they stand in an answer."""
    return [notice._asdict() for notice in notices]


def of_differences(missing: list[str], added: list[str]) -> list[Notice]:
    """Returns what a translation lacks, and holds beyond, of numbers, tags and the like."""
    notices = []
    if missing:
        names = ", ".join(missing)
        notices.append(Notice(MISSING, f"the translation lacks {names} of the text", missing))
    if added:
        names = ", ".join(added)
        notices.append(Notice(ADDED, f"the translation holds {names}, unlike the text", added))
    return notices


def of_changes(report: Report) -> list[Notice]:
    """Returns what the translations of a document lack, and hold beyond, all together."""
    missing = [item for change in report.changes for item in change.difference.missing]
    added = [item for change in report.changes for item in change.difference.added]
    return of_differences(missing, added)


def of_report(report: Report) -> list[Notice]:
    """Returns what stays of a file, and which translations are doubtful, a notice per kind."""
    if not report.texts:
        return [Notice(EMPTY, str(report), [])]
    notices = [Notice(LEFT, f"left as it is: {group}", _items(group)) for group in report.left]
    if report.changed:
        notices.append(Notice(CHANGED, str(report.changed), _items(report.changed)))
    return notices


def _items(group: Group) -> list[str]:
    return [str(group.number), group.description, group.first]


def of_length(tokens: int, trained: int | None) -> list[Notice]:
    """Returns that a sentence of so many tokens was cut, or is longer than any in training."""
    if tokens > MAX_SOURCE_TOKENS:
        message = f"a sentence was cut off after {MAX_SOURCE_TOKENS} tokens; divide it"
        return [Notice(CUT, message, [str(MAX_SOURCE_TOKENS)])]
    if trained and tokens > trained:
        message = f"a sentence has more than the {trained} tokens of training, and may lose text"
        return [Notice(LONG, message, [str(trained)])]
    return []


def unrecognized(source: str) -> Notice:
    """Returns that a text may be in none of the server's languages."""
    message = f"the language was not recognized, and taken for {language_name(source)}"
    return Notice(UNRECOGNIZED, message, [source])


def unchanged(detection: Detection) -> Notice:
    """Returns that a text is in the target language, and was left as it is."""
    message = f"the text is {language_name(detection.code)} already, and stays as it is"
    return Notice(UNCHANGED, message, [detection.code])


def of_fields(unknown: list[str]) -> list[Notice]:
    """Returns that a request has fields that mean nothing, such as one that is misspelled."""
    names = [name[:40] for name in unknown[:10]]
    if not names:
        return []
    return [Notice(IGNORED, f"unknown fields: {', '.join(names)}; see /docs", names)]
