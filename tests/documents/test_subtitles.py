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


def test_speakers_are_no_text():
    for label in ("ANA:", ">>", ">> JOÃO SILVA:"):
        cue = f"1\n00:00:01,000 --> 00:00:02,000\n{label} O gato dorme.\n"
        (segment,) = parse_document("a.srt", cue.encode()).segments
        assert segment.text.strip() == "O gato dorme."
    spoken = "1\n00:00:01,000 --> 00:00:02,000\nEle disse: NÃO\n"
    assert "disse: N" in parse_document("a.srt", spoken.encode()).segments[0].text


def test_a_pause_or_a_new_speaker_ends_a_sentence():
    later = SRT.replace("03,600", "07,600").replace("05,000", "07,900")
    assert parse_document("a.srt", later.encode()).segments[1].text.startswith("vermelha")
    spoken = SRT.replace("<i>vermelha", "- vermelha").replace("muito.</i>", "muito.")
    assert parse_document("a.srt", spoken.encode()).segments[1].text.startswith("vermelha")
    beside = SRT.replace("03,600", "03,400")  # while the cue before it is still seen
    assert parse_document("a.srt", beside.encode()).segments[1].text.startswith("vermelha")


def test_a_sentence_has_at_most_six_cues():
    cues = (f"{n}\n00:{n:02},0 --> 00:{n + 1:02},0\num\n\n" for n in range(1, 9))
    texts = [segment.text for segment in parse_document("a.srt", "".join(cues).encode()).segments]
    assert texts == ["um um um um um um", "um um"]


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


@pytest.mark.parametrize(
    "times",
    [
        "00:00:01 --> 00:00:03",
        "0:00:01,200.0000000000582 --> 0:00:03,000",
        "0:00:01,199.9999999998 --> 00:00:03,55",
        "00:00:01:000 --> 00:00:03:000",
        "00:00:01,0: --> 00:00:03,55",
        "00:00:01.000-->00:00:03.000",
        "00:00:01 , 000 --> 00:00:03, 000",
    ],
)
def test_times_that_players_read_are_read(times):
    text = f"1\n{times}\nO gato\n\n2\n00:00:04,000 --> 00:00:06,000\npreto dorme.\n"
    document = parse_document("a.srt", text.encode())
    assert [segment.text for segment in document.segments] == ["O gato preto dorme."]
    assert not document.left
    translated = translate(text)
    assert translated == text.replace("O gato", "O GATO").replace("preto dorme", "PRETO DORME")


@pytest.mark.parametrize("times", ["00:00:xx --> 00:00:03", "0:01 -> 0:03", "-0:01,0 --> 0:02,0"])
def test_times_that_nobody_reads_are_named_and_their_text_stays(times):
    text = f"1\n00:00:01,000 --> 00:00:02,000\num\n2\n{times}\ndois\n\n3\n00:09,0 --> 00:10,0\num\n"
    document = parse_document("a.srt", text.encode())
    assert translate(text) == text.replace("um", "UM")
    assert [document.place(left) for left in document.left] == ["line 5"]
    with pytest.raises(UserError, match=r"line 2: times that are not understood; write: 00:0"):
        translate(f"1\n{times}\ndois\n")


def test_text_behind_a_blank_line_belongs_to_the_cue():
    text = """1
00:00:01,000 --> 00:00:03,000

um gato

preto.

- dois.

2
00:00:04,000 --> 00:00:06,000
três

fim
"""
    texts = [segment.text for segment in parse_document("a.srt", text.encode()).segments]
    assert texts == ["um gato preto.", "dois.", "três fim"]
    assert translate(text) == text.upper()
    assert translate(text, identity) == text


def test_where_webvtt_ends_a_cue_the_text_behind_is_named():
    text = "WEBVTT\n\nNOTE x\n\na\n00:01 --> 00:02\num\n\ndois\ntrês\n\nb\n00:03 --> 00:04\num\n"
    document = parse_document("a.vtt", text.encode())
    assert translate(text, upper, "a.vtt") == text.replace("um", "UM")
    assert [document.place(left) for left in document.left] == ["line 9"]


def test_a_line_of_spaces_ends_no_cue_of_webvtt():
    text = "WEBVTT\n\n00:01 --> 00:02\n \num<00:01.500><c> dois</c>\n\n00:03 --> 00:04\num\n \n"
    document = parse_document("a.vtt", text.encode())
    assert not document.left
    assert translate(text, identity, "a.vtt") == text
    assert [segment.text for segment in document.segments] == ["um dois um"]


def test_a_sound_is_no_part_of_the_sentence_around_it():
    text = "1\n00:01,0 --> 00:02,0\nO gato\n\n2\n00:02,0 --> 00:03,0\n[MIAU]\n\n"
    text += "3\n00:03,0 --> 00:04,0\npreto\n(que dorme)\nfoi.\n"
    texts = [segment.text for segment in parse_document("a.srt", text.encode()).segments]
    assert texts == ["O gato", "[MIAU]", "preto (que dorme) foi."]


def test_text_before_the_first_cue_is_named():
    text = "Legendas de Ana\n\n1\n00:01,000 --> 00:02,000\num --> dois\n"
    document = parse_document("a.srt", text.encode())
    assert [document.place(left) for left in document.left] == ["line 1"]
    assert translate(text) == text.replace("um --> dois", "UM --> DOIS")


@pytest.mark.parametrize("lines", [2, 5])
def test_cues_of_any_number_of_lines_lose_no_character(lines):
    text = "1\n00:01,000 --> 00:02,000\n" + "um dois três quatro\n" * lines
    for line_end in ("\n", "\r\n"):
        source = text.replace("\n", line_end)
        assert translate(source).split() == source.upper().split()
        assert translate(source).count(line_end) == lines + 2
