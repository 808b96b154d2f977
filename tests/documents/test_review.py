"""What must hold of the review of documents: what is doubtful is listed."""

import pytest
from helpers import ROOT, Translated, identity

from nmt import UserError
from nmt.decoding.confidence import DOUBTFUL
from nmt.documents import parse_document, review
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


def doubts_of(name, content, min_confidence=DOUBTFUL):
    """Returns a Document, the translations of its segments, and its Doubts."""
    document = parse_document(name, content.encode())
    translations = translate([segment.text for segment in document.segments])
    report = make_report(document, translations)
    doubts = review.find_doubts(document, translations, report, min_confidence)
    return document, translations, doubts


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
    unsure = [doubt.source for doubt in doubts if not doubt.is_known]
    assert unsure[-1:] == sources[-1:]
    assert set(sources) <= set(unsure)


def test_the_page_of_the_server_marks_what_is_doubtful_in_a_document():
    page = (ROOT / "nmt" / "serving" / "page" / "page.js").read_text()
    assert f"const DOUBTFUL = {DOUBTFUL:.0f};" in page


def test_doubts_need_a_confidence():
    document = parse_document("a.txt", b"um")
    translations = identity(["um"])
    report = make_report(document, translations)
    with pytest.raises(UserError, match="have no confidence; translate with load_translator"):
        review.find_doubts(document, translations, report, DOUBTFUL)
