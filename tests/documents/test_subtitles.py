"""What must hold of subtitles: numbers and times stay, sentences are translated whole."""

import re

import pysubs2
import pytest
from helpers import Translated, identity, upper
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt import UserError
from nmt.documents import parse_document, translate_document

SRT = """1\r
00:00:01,000 --> 00:00:03,500\r
<i>O gato preto dorme na casa</i>\r
\r
2\r
00:00:03,600 --> 00:00:05,000 X1:1\r
<i>vermelha e o cão\r
corre muito.</i>\r
\r
3\r
00:00:06,000 --> 00:00:08,000\r
- {\\an8}Bom dia & <b>boa</b> tarde.\r
- Olá <3, 1999!\r
4\r
00:00:09,000 --> 00:00:10,000\r
♪ 42 ♪\r
\r
5\r
00:00:11,000 --> 00:00:12,000\r
<b>sem fim\r
"""
VTT = """\
WEBVTT Kind: captions

NOTE um comentário

STYLE
::cue { color: red }

intro
00:01.000 --> 00:04.000 align:start
<v Ana>Bom <c.amarelo>dia</c> &amp; <00:02.000>noite.
"""


def translate(text, translator=upper, name="a.srt"):
    return translate_document(name, text.encode(), translator).decode()


def outside_of_text(text):
    """Returns numbers, times and blank lines."""
    return [line for line in text.splitlines() if re.match(r"\d+$|.*-->|$", line)]


def test_a_sentence_in_two_cues_is_translated_once():
    texts = [segment.text for segment in parse_document("a.srt", SRT.encode()).segments]
    assert texts[0] == "O gato preto dorme na casa vermelha e o cão corre muito."
    assert texts[1:] == ["Bom dia & boa tarde.", "Olá <3, 1999!", "sem fim"]


def test_times_numbers_and_tags_stay():
    assert translate(SRT, identity) == SRT
    expected = SRT.upper().replace("I>", "i>").replace("B>", "b>").replace("\\AN8", "\\an8")
    assert translate(SRT) == expected


def test_a_translation_is_divided_by_length_and_behind_commas():
    text = "The black cat that sleeps in the red house, the dog runs."
    translated = translate(SRT, lambda texts: [Translated(text, None), *identity(texts[1:])])
    cues = pysubs2.SSAFile.from_string(translated.replace("\r", ""), format_="srt")
    assert cues[0].plaintext == "The black cat that sleeps"
    assert cues[1].plaintext == "in the red house,\nthe dog runs."
    assert outside_of_text(translated) == outside_of_text(SRT)
    assert translated.count("<i>") == translated.count("</i>") == 2


def test_settings_notes_and_styles_of_webvtt_stay():
    assert translate(VTT, identity, "a.vtt") == VTT
    expected = VTT.replace("Bom", "BOM").replace(">dia", ">DIA").replace("noite", "NOITE")
    assert translate(VTT, upper, "a.vtt") == expected
    cues = pysubs2.SSAFile.from_string(expected, format_="vtt")
    assert [(cue.start, cue.end) for cue in cues] == [(1000, 4000)]


def test_a_pause_or_a_new_speaker_ends_a_sentence():
    later = SRT.replace("03,600", "07,600").replace("05,000", "07,900")
    assert parse_document("a.srt", later.encode()).segments[1].text.startswith("vermelha")
    spoken = SRT.replace("<i>vermelha", "- vermelha").replace("muito.</i>", "muito.")
    assert parse_document("a.srt", spoken.encode()).segments[1].text.startswith("vermelha")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(SRT.splitlines(keepends=True) + VTT.splitlines(keepends=True))))
def test_lines_in_any_order_are_no_crash_and_identity_changes_nothing(lines):
    text = "".join(lines)
    for name in ("a.srt", "a.vtt"):
        try:
            assert translate(text, identity, name) == text
            times = re.findall(".*-->.*", text)
            assert re.findall(".*-->.*", translate(text, upper, name)) == times
        except UserError:
            assert "-->" not in text


def test_a_file_without_cues_is_named():
    with pytest.raises(UserError, match=r"a.srt: holds no cue, such as 00:00:01,000"):
        translate("um dois")
