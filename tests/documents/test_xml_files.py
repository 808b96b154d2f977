"""What must hold of Android's texts in XML: what a backslash means there, and references."""

import pytest
from helpers import Translated, identity, upper
from lxml import etree

from nmt.documents import parse_document, translate_document


def resource(text):
    return f"<resources><string name='a'>{text}</string></resources>"


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        (r"O \'gato\' \"preto\"", r"O \'GATO\' \"PRETO\""),
        (r"um\ndois\n\ntr\u00eas", r"UM\nDOIS\n\nTRÊS"),
        (r"um \\n \@dois", r"UM \\N @DOIS"),
        (r"\@um \u0000 dois", r"\@UM DOIS"),
        (r"um \uD83D\uDE00 &lt; dois", "UM \U0001f600 &lt; DOIS"),
        ('"um  gato"', "UM GATO"),
        ("@string/outra", "@string/outra"),
        ("?attr/um", "?attr/um"),
        ("@android:string/ok", "@android:string/ok"),
    ],
)
def test_signs_of_android_are_no_text(text, translated):
    assert translate(resource(text), identity) == resource(text)
    assert translate(resource(text)) == resource(translated)


def test_an_apostrophe_of_the_network_is_written_as_android_reads_it():
    translated = translate(resource("não pare"), lambda texts: [Translated("don't stop", None)])
    assert translated == resource(r"don\'t stop")
    assert etree.fromstring(translated)[0].text == r"don\'t stop"


def test_a_backslash_means_nothing_in_other_xml():
    text = r"<r><s>um\ndois</s></r>"
    (segment,) = parse_document("a.xml", text.encode()).segments
    assert segment.text == r"um\ndois"


def translate(text, translator=upper):
    return translate_document("a.xml", text.encode(), translator).decode()
