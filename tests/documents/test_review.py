"""What must hold of the review of documents: what is doubtful is listed, and marked in messages."""

import polib
import pytest
from helpers import ROOT, Translated, identity

from nmt import UserError
from nmt.documents import parse_document, review, translate_document
from nmt.documents.document import FormatOptions
from nmt.documents.report import make_report

TABLE = "um\ndois 2\ntrês\num\nquatro\ncinco\n"
TRANSLATIONS = {
    "um": ("one", 12.4),
    "dois 2": ("two", 90.0),  # without the number
    "três": ("three", 40.0),
    "quatro": (" ", 80.0),
    "cinco": ("five", 3.0),
}


def translate(texts):
    return [Translated(TRANSLATIONS[text][0], None, TRANSLATIONS[text][1]) for text in texts]


def doubts_of(name, content, mark="review", **options):
    """Returns a Document, the translations of its segments, and its Doubts."""
    document = parse_document(name, content.encode(), FormatOptions(mark=mark))
    translations = translate([segment.text for segment in document.segments])
    report = make_report(document, translations)
    return document, translations, review.find_doubts(document, translations, report, **options)


def reviewed(name, content):
    """Returns a file in translation, in which what is doubtful asks for a review."""
    document, translations, doubts = doubts_of(name, content, "doubtful")
    review.ask_for_reviews(doubts)
    return document.write(translations).decode()


def test_what_is_wrong_comes_first_then_the_least_sure(tmp_path):
    *_, doubts = doubts_of("a.txt", TABLE)
    review.write(tmp_path / "review.tsv", doubts)
    assert (tmp_path / "review.tsv").read_text() == (
        "confidence\tplace\tsource\ttranslation\tproblem\n"
        "80\tline 5\tquatro\t\twithout a translation\n"
        "90\tline 2\tdois 2\ttwo\tmissing 2\n"
        "3\tline 6\tcinco\tfive\tlow confidence\n"
        "12\tline 1 and 1 more\tum\tone\tlow confidence\n"
    )


@pytest.mark.parametrize(("least", "sources"), [(0, []), (40, ["cinco", "um"]), (40.1, ["três"])])
def test_the_least_confidence_that_is_not_doubtful_can_be_chosen(least, sources):
    *_, doubts = doubts_of("a.txt", TABLE, min_confidence=least)
    unsure = [doubt.segments[0].text for doubt in doubts if not doubt.is_known]
    assert unsure[-1:] == sources[-1:]
    assert set(sources) <= set(unsure)


PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n != 1;\\n"

msgid "um"
msgstr ""

#, fuzzy, c-format
msgid "três"
msgstr "tree"

msgid "três"
msgid_plural "cinco"
msgstr[0] ""
msgstr[1] ""
"""


def test_a_message_is_fuzzy_only_if_one_of_its_translations_is_doubtful():
    content = translate_document("a.po", PO.encode(), translate, mark="doubtful", fuzzy=True)
    one, three, plural = polib.pofile(content.decode())
    assert (one.msgstr, one.flags) == ("one", ["fuzzy"])
    assert (three.msgstr, three.flags) == ("three", ["c-format"])
    assert (plural.msgstr_plural, plural.flags) == ({0: "three", 1: "five"}, ["fuzzy"])


def test_only_doubtful_targets_of_xliff_ask_for_a_review():
    units = "".join(
        f'<trans-unit id="{text}"><source>{text}</source><target state="new"/></trans-unit>'
        for text in ("um", "três")
    )
    file = f'<xliff version="1.2"><file><body>{units}</body></file></xliff>'
    written = reviewed("a.xlf", file)
    assert '<target state="needs-review-translation">one</target>' in written
    assert '<target state="translated">three</target>' in written


def test_a_doubtful_segment_of_xliff_2_has_a_state_of_its_own():
    segments = "".join(f"<segment><source>{text}</source></segment>" for text in ("um", "três"))
    file = f'<xliff version="2.0" trgLang="en"><file><unit>{segments}</unit></file></xliff>'
    written = reviewed("a.xlf", file)
    assert '<segment state="translated" subState="nmt:doubtful"><source>um</source>' in written
    assert '<segment state="translated"><source>três</source>' in written
    again = parse_document("a.xlf", written.encode())
    assert [left.reason for left in again.left] == [
        "whose state asks for a review", "already translated",
    ]  # fmt: skip
    anew = parse_document("a.xlf", written.encode(), FormatOptions(mark="doubtful", fuzzy=True))
    assert len(anew.segments) == 1
    sure = anew.write([Translated("ONE", None, 90.0)]).decode()
    assert sure == written.replace(' subState="nmt:doubtful"', "").replace(">one<", ">ONE<")


def test_the_page_of_the_server_marks_what_is_doubtful_in_a_document():
    page = (ROOT / "nmt" / "serving" / "page" / "page.js").read_text()
    assert f"const DOUBTFUL = {review.MIN_CONFIDENCE:.0f};" in page


def test_doubts_need_a_confidence():
    with pytest.raises(UserError, match="have no confidence; translate with load_translator"):
        translate_document("a.po", PO.encode(), identity, mark="doubtful")
    with pytest.raises(UserError, match="mark='sure': is none of review, doubtful, comment, none"):
        translate_document("a.po", PO.encode(), identity, mark="sure")
