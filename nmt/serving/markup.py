"""HTML in requests: its text is translated, its tags, comments and scripts stay as they are.

A tag ends a text, so a sentence that is partly bold is translated in parts.
"""

import html
import re

# A comment, an element whose content is not text, or a tag. What looks like none is text. Comments
# and elements without an end go on to the end of the text, as browsers read them.
MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|</?[a-zA-Z][^<>]*>|<![^<>]*>",
    re.DOTALL | re.I,
)


def _parts(text: str) -> list[tuple[str, bool]]:
    """Returns the parts of HTML in order, each with whether it is text to translate."""
    parts, position = [], 0
    for match in MARKUP.finditer(text):
        parts += [(text[position : match.start()], True), (match[0], False)]
        position = match.end()
    parts.append((text[position:], True))
    return [(part, is_text and bool(part.strip())) for part, is_text in parts if part]


def translatable(text: str) -> list[str]:
    """Returns the texts of HTML, in order, without character references."""
    return [html.unescape(part).strip() for part, is_text in _parts(text) if is_text]


def with_translations(text: str, translations: list[str]) -> str:
    """Returns HTML with each of its texts replaced by a translation, and its spaces as they were.

    Args:
      text: HTML.
      translations: of each of `translatable(text)`, as plain text.
    """
    waiting, parts = iter(translations), []
    for part, is_text in _parts(text):
        if is_text:
            before = part[: len(part) - len(part.lstrip())]
            after = part[len(part.rstrip()) :]
            part = before + html.escape(next(waiting), quote=False) + after
        parts.append(part)
    return "".join(parts)
