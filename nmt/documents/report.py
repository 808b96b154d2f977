"""What became of the texts of a document: how many are translated, and what stays, and why.

    document = parse_document("page.html", content)
    translations = list(translate([segment.text for segment in document.segments]))
    content = document.write(translations)
    report = make_report(document, translations)
    print(report)  # 120 of 131 texts translated; left: 9 formulas (first: line 12), ...

What stays is counted by the format's module, which adds a record Left to `Document.left` for each
text that a user may expect to be translated. Numbers, code and URLs are not such texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from nmt.documents.document import Document, Left, Segment
from nmt.documents.tag_placement import TranslatedText, written_text
from nmt.messages import plural
from nmt.text.differences import Difference, difference
from nmt.text.protected import DEFAULT, Protector

OTHER_NUMBERS = "with other numbers, placeholders, URLs or tags than in the source"
WITHOUT_TRANSLATION = "without a translation"  # for which the network returned an empty text
WITHOUT_TEXT = "nothing translated: it holds no text to translate"


class Group(NamedTuple):
    """The texts of one kind, such as all that are left for the same reason."""

    description: str  # what follows the number of texts: "formulas"
    number: int
    first: str  # where the first one stands: "line 12"; with what is to be said of it
    is_expected: bool = False  # nothing is wrong with the file or its translation

    def __str__(self) -> str:
        return f"{self.number} {self.description} (first: {self.first})"


class Change(NamedTuple):
    """A text whose translation has other numbers or placeholders."""

    segment: Segment
    difference: Difference


class Report(NamedTuple):
    """What became of the texts of a document."""

    translated: int
    left: list[Group]  # that of the most texts first
    changes: list[Change]
    changed: Group | None  # of `changes`

    @property
    def texts(self) -> int:
        """How many texts were seen: those translated, and those left."""
        return self.translated + sum(group.number for group in self.left)

    @property
    def is_complete(self) -> bool:
        """Whether there is text, none stays that should not, and what is translated is right."""
        has_faults = any(not group.is_expected for group in self.left)
        return bool(self.texts) and not has_faults and not self.changes

    def __str__(self) -> str:
        if not self.texts:
            return WITHOUT_TEXT
        if not self.left:
            summary = f"{plural(self.translated, 'text')} translated"
        else:
            number = f"{self.translated} of {plural(self.texts, 'text')}"
            number = number if self.translated else "nothing"
            summary = f"{number} translated; left: {', '.join(map(str, self.left))}"
        return f"{summary}; {self.changed}" if self.changed else summary


def make_report(
    document: Document, translations: Sequence[TranslatedText], protector: Protector = DEFAULT
) -> Report:
    """Returns the Report on a translation."""
    left: dict[tuple[str, bool], list[Segment | Left]] = defaultdict(list)
    changes = []
    for text in document.left:
        left[text.reason, text.is_expected].append(text)
    for segment, translation in zip(document.segments, translations, strict=True):
        if not translation.text.strip():
            left[WITHOUT_TRANSLATION, False].append(segment)
            continue
        written = written_text(segment.nodes, translation)
        lost_or_added = difference(segment.seen_text, written, protector)
        if lost_or_added:
            changes.append(Change(segment, lost_or_added))
    translated = sum(bool(translation.text.strip()) for translation in translations)
    groups = [
        Group(reason, len(texts), document.place(texts[0]), is_expected)
        for (reason, is_expected), texts in left.items()
    ]
    groups.sort(key=lambda group: -group.number)
    changed = None
    if changes:
        first = f"{document.place(changes[0].segment)}, {changes[0].difference}"
        changed = Group(OTHER_NUMBERS, len(changes), first)
    return Report(translated, groups, changes, changed)
