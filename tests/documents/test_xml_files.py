"""What must hold of markup in XML: CDATA sections, entities, and what is left."""

import pytest
from helpers import identity, upper

from nmt import UserError
from nmt.documents import xml_files
from nmt.documents.document import decode


def translate(page, translator=upper):
    document = xml_files.fragment(decode(page))
    return document.write(translator([segment.text for segment in document.segments]))


def test_cdata_stays_as_it_is_within_a_sentence():
    page = b"<a>um <![CDATA[l1\n  l2]]> dois</a>"
    assert translate(page) == b"<a>UM <![CDATA[l1\n  l2]]> DOIS</a>"


def test_entities_of_another_file_stay_unless_they_are_those_of_html():
    page = b'<!DOCTYPE a SYSTEM "a.dtd"><a>um &dois; tr&ecirc;s</a>'
    assert translate(page) == b'<!DOCTYPE a SYSTEM "a.dtd"><a>UM &dois; TR\xc3\x8aS</a>'


def test_what_is_left_of_xml_is_named():
    page = "<r>\n<s translate='no'>um</s><s>dois</s><s><![CDATA[três <b>x</b>]]></s></r>"
    document = xml_files.fragment(decode(page.encode()))
    assert [segment.text for segment in document.segments] == ["dois"]
    assert [(left.reason, document.place(left)) for left in document.left] == [
        ('in translate="no"', "line 2"),
        ("in a CDATA section", "line 2"),
    ]


XXE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>um &x;</a>'
LAUGHS = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><a>um &y;</a>'


@pytest.mark.parametrize("text", [XXE, LAUGHS], ids=["another file", "growth"])
def test_entities_are_refused(text):
    with pytest.raises(UserError, match=r"^declares the entity 'x', which could read"):
        translate(text.encode(), identity)
