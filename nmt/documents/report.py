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
    left: list[Group]
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

    @property
    def warnings(self) -> list[str]:
        """A line for each kind of text that stays, or whose translation is doubtful."""
        lines = [f"left as it is: {group}" for group in self.left]
        lines += [str(self.changed)] if self.changed else []
        return lines if self.texts else [WITHOUT_TEXT]

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


class Groups:
    """Counts texts of a document by what is to be said of them."""

    def __init__(self, document: Document):
        self._document = document
        self._groups: dict[str, Group] = {}

    def add(self, description: str, text: Segment | Left, is_expected: bool = False) -> None:
        """Counts a text; see Group."""
        group = self._groups.get(description)
        if group:
            self._groups[description] = group._replace(number=group.number + 1)
        else:
            place = self._document.place(text)
            self._groups[description] = Group(description, 1, place, is_expected)

    def sorted(self) -> list[Group]:
        """Returns the groups, the one of the most texts first."""
        return sorted(self._groups.values(), key=lambda group: -group.number)


def make_report(
    document: Document, translations: Sequence[TranslatedText], protector: Protector = DEFAULT
) -> Report:
    """Returns the Report on a translation."""
    left, changed, changes = Groups(document), Groups(document), []
    for text in document.left:
        left.add(text.reason, text, text.is_expected)
    for segment, translation in zip(document.segments, translations, strict=True):
        if not translation.text.strip():
            left.add(WITHOUT_TRANSLATION, segment)
            continue
        written = written_text(segment.nodes, translation)
        lost_or_added = difference(segment.text, written, protector)
        if lost_or_added:
            changes.append(Change(segment, lost_or_added))
            changed.add(OTHER_NUMBERS, segment)
    translated = sum(bool(translation.text.strip()) for translation in translations)
    groups = changed.sorted()
    group = groups[0] if groups else None
    if group:
        group = group._replace(first=f"{group.first}, {changes[0].difference}")
    return Report(translated, left.sorted(), changes, group)
