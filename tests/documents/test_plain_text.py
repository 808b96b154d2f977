"""What must hold of plain text: hard-wrapped paragraphs are joined, and wrapped again."""

import pytest
from helpers import identity, upper

from nmt import UserError
from nmt.documents import parse_document, translate_document

WRAPPED = """O gato preto dorme na casa vermelha e o cão grande corre muito
depressa atrás da bola azul que a criança atirou para o jardim do
vizinho.
"""
LINES = """\
Um.

  - um item
  - dois itens que
1) três
> citado

42 %
Uma frase por linha.
Outra frase, bem mais longa, na segunda linha.
"""


def texts(text):
    return [segment.text for segment in parse_document("a.txt", text.encode()).segments]


def test_hard_wrapped_paragraphs_are_one_text_and_wrapped_again():
    assert texts(WRAPPED) == [" ".join(WRAPPED.split())]
    assert texts(WRAPPED + "\n" + LINES)[0] == " ".join(WRAPPED.split())
    longer = translate_document(
        "a.txt", WRAPPED.encode(), lambda texts: [t._replace(text=t.text * 2) for t in upper(texts)]
    ).decode()
    assert max(map(len, longer.splitlines())) <= 65
    assert len(longer.splitlines()) == 5
    assert longer.endswith("VIZINHO.\n")


def test_a_long_url_does_not_widen_the_text():
    url = "https://example.org/" + "a" * 60
    first, following, last = WRAPPED.splitlines()
    for line in (url, f"<{url}>", f"[1] {url}"):
        wrapped = f"{first}\n{line}\n{following}\n{last}\n"
        assert texts(wrapped) == [" ".join(wrapped.split())]
        assert texts(f"{WRAPPED}\n{line}\n{line}\n")[0] == " ".join(WRAPPED.split())


def test_quoted_and_indented_paragraphs_keep_their_margins():
    quoted = "".join(f"> {line}\n" for line in WRAPPED.splitlines())
    item = "- " + WRAPPED.replace("\n", "\n  ", 2)
    for text in (quoted, item):
        assert translate_document("a.txt", text.encode(), upper).decode() == text.upper()


def test_each_line_that_is_not_wrapped_is_a_text():
    expected = ["Um.", "um item", "dois itens que", "três", "citado", "Uma frase por linha."]
    assert texts(LINES)[:6] == expected
    assert translate_document("a.txt", LINES.encode(), upper).decode() == LINES.upper()


@pytest.mark.parametrize("text", [WRAPPED, LINES, "", "\n", "um", "um\r\n\r\ndois\rtrês  \n \t\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_ends_and_encoding_stay(text, encoding):
    content = text.encode(encoding)
    assert translate_document("a.txt", content, identity) == content
    assert translate_document("a.txt", content, upper).decode(encoding).split() == (
        text.upper().split()
    )


def test_a_binary_file_is_refused():
    with pytest.raises(UserError, match=r"a.txt: line 1: is not UTF-8; convert the text first"):
        translate_document("a.txt", b"\x89PNG\r\n\xff", identity)
    with pytest.raises(UserError, match=r"a.pdf: is not a document that can be translated"):
        translate_document("a.pdf", b"", identity)


def test_a_paragraph_that_is_only_an_address_stays():
    text = "https://example.org/um\n\nUm texto: https://example.org\n\njoao@example.org {nome}\n"
    assert texts(text) == ["Um texto: https://example.org"]


@pytest.mark.parametrize(
    "text",
    [
        "\u00a0\u3000um\u00a0\n\t\u2003- dois\n",
        "um dois\ftrês\n\fquatro\n\f\n",
        "um\x0bdois\u2028três\u2029quatro\x85cinco\n",
    ],
)
def test_margins_and_ends_of_pages_stay(text):
    assert translate_document("a.txt", text.encode(), upper).decode() == text.upper()
    assert translate_document("a.txt", text.encode(), identity).decode() == text


def test_a_page_ends_a_wrapped_paragraph():
    lines = ["um dois três quatro cinco seis sete oito", "nove dez onze doze treze catorze quinze"]
    text = f"{lines[0]}\n{lines[1]}\f{lines[0]}\n{lines[1]}\n"
    texts = [segment.text for segment in parse_document("a.txt", text.encode()).segments]
    assert texts == [" ".join(lines)] * 2
