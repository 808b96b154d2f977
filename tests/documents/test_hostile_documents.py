"""What must hold of any bytes, whatever their name: a document, or one line on what is wrong."""

import pytest
from helpers import backwards, identity

from nmt import UserError
from nmt.documents import FORMATS, translate_document

BYTES = [
    b"",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"PK\x03\x04" + bytes(range(256)),
    "é".encode("utf-16-le"),
    b'<?xml version="1.0" encoding="utf-7"?><a>+AOk-</a>',
    b'<meta charset="utf-16">um',
]
DIGITS = b"9" * 5000  # more than int() takes
BYTES += [
    b"um &#" + DIGITS + b"; dois",
    b'um <img alt="&#' + DIGITS + b';"> dois',
    DIGITS + b":00:01,000 --> 00:00:02,000\num\n",
    b"<a>&#" + DIGITS + b";</a>",
]
REPEATED = '< & <!-- [ ![ *a_ > `a <p>x <b>x </i> <b>a</b> <a></a> <![ <? " \\ {\\ --> | - <a>1'
REPEATED = REPEATED.split()
ENDINGS = {module: ending for ending, module in FORMATS.items()}.values()  # one for each format


def message_of(ending, content):
    """Returns the message that bytes are refused with; one line, if they are a document."""
    options = {"columns": "1"} if "columns" in FORMATS[ending].options else {}
    try:
        for translate in (identity, backwards):
            translate_document(f"a{ending}", content, translate, **options)
    except UserError as error:
        return str(error)
    return f"a{ending}: is a document"


@pytest.mark.parametrize("ending", ENDINGS)
def test_any_bytes_are_a_document_or_one_line(ending):
    texts = [text * 60 for text in REPEATED] + ["um " + f"{text} " * 60 for text in REPEATED]
    for content in BYTES + [text.encode() for text in texts]:
        message = message_of(ending, content)
        assert message.startswith(f"a{ending}: ")
        assert "\n" not in message
