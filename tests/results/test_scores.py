"""What must hold of scores: they are sacreBLEU's, and say how sure they are."""

import unicodedata

import pytest
import sacrebleu
from helpers import sentences

from nmt.results import scores

REFERENCES = [target for _, target in sentences(60)]
GOOD = [line.replace("one", "two") for line in REFERENCES]
BAD = [line.replace("one", "two").replace("four", "five") for line in REFERENCES]
SHUFFLED = [line.replace("one" if n % 2 else "two", "six") for n, line in enumerate(REFERENCES)]


def test_scores_are_those_of_sacrebleu_with_half_of_their_interval():
    result = scores.score(GOOD, REFERENCES)
    assert list(result) == ["BLEU", "BLEU, lower-cased", "chrF"]
    assert result["BLEU"]["score"] == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert result["chrF"]["score"] == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    assert 1 < result["BLEU"]["interval"] < 20
    assert "bs:1000" in result["BLEU"]["signature"]
    assert scores.score(REFERENCES, REFERENCES)["BLEU"]["interval"] == 0


def test_tokenizer_and_case_are_as_asked_for():
    result = scores.score(["A b , c d"], ["a B , C d"], tokenize="none", lowercase=True)
    assert list(result) == ["BLEU, lower-cased", "chrF, lower-cased"]
    assert round(result["BLEU, lower-cased"]["score"], 3) == 100
    assert "case:lc" in result["chrF, lower-cased"]["signature"]
    assert "tok:none" in result["BLEU, lower-cased"]["signature"]


def test_tokenized_text_is_warned_of_once_unless_it_is_said_to_be(monkeypatch, caplog):
    said = []
    monkeypatch.setattr(scores.log, "warning", said.append)
    lines = ["this is a line ."] * 200
    scores.score(lines, lines)
    scores.warn_of_tokenized_text(lines, "none", lowercase=True)
    scores.warn_of_tokenized_text(["a line."] * 200 + ["Eh bien ?"] * 200, "13a", lowercase=True)
    scores.warn_of_tokenized_text([])
    assert not said
    scores.warn_of_tokenized_text(lines)
    assert len(said) == 1
    assert "seem to be tokenized: 200 of 200 end in a space and a full stop" in said[0]
    assert not caplog.text  # of sacreBLEU's own warning, at each scoring


def test_a_difference_is_distinguished_from_chance():
    def chances(*systems):
        return [comparison.p_values[0][1] for comparison in scores.compare(systems, REFERENCES)]

    assert all(p < 0.01 for p in chances(GOOD, BAD))
    assert all(p < 0.01 for p in chances(BAD, GOOD))  # either way
    assert all(p > 0.05 for p in chances(SHUFFLED, GOOD))
    assert chances(GOOD, GOOD) == [1, 1, 1]


def test_of_many_systems_a_matrix_says_which_is_better():
    systems = [GOOD, BAD, SHUFFLED, GOOD]
    comparisons = scores.compare(systems, REFERENCES, ter=True)
    bleu, ter = comparisons[0], comparisons[-1]
    for comparison in (bleu, ter):  # of which a lower score is better
        better = {
            (one, other) for one in range(4) for other in range(4)
            if comparison.is_better(one, other)
        }  # fmt: skip
        assert better == {(0, 1), (2, 1), (3, 1)}
    (two,) = (one for one in scores.compare([BAD, SHUFFLED], REFERENCES) if one.name == "BLEU")
    assert bleu.p_values[1][2] == two.p_values[0][1]  # as of two alone
    assert bleu.scores[1:3] == two.scores
    assert bleu.p_values[0][3] == 1
    _, head, first, second, *_ = bleu.matrix().splitlines()
    assert head.split() == ["1", "2", "3", "4"]
    assert first.split()[4:7] == [".", ">", f"{bleu.p_values[0][1]:.3f}"]
    assert second.split()[4:7] == ["<", f"{bleu.p_values[0][1]:.3f}", "."]
    assert "> the row is better" in scores.comparison_table(comparisons)


FEW_MATCHES = {  # hypotheses and references
    "one of two lines": (["the cat", "xyz"], ["the cat", "tree"]),
    "one of three lines": (["one", "xyz", "xyz"], ["one", "tree", "tree"]),
    "all wrong": (["xyz", "xyz"], ["tree", "house"]),
    "empty references": (["the cat", "dog"], ["the cat", ""]),
    "only empty references": (["the cat", "dog"], ["", ""]),
    "empty hypotheses": (["", ""], ["the cat", "dog"]),
    "all is empty": ([""], [""]),
    "one line": (["the cat"], ["the cat"]),
}


@pytest.mark.parametrize("name", FEW_MATCHES)
def test_a_split_of_few_matching_lines_is_scored_and_compared(name):
    hypotheses, references = FEW_MATCHES[name]
    result = scores.score(hypotheses, references, ter=True)
    assert result["chrF"]["score"] == sacrebleu.corpus_chrf(hypotheses, [references]).score
    assert result["TER"]["score"] == sacrebleu.corpus_ter(hypotheses, [references]).score
    for row in result.values():
        assert row["interval"] >= 0
        assert type(row["score"]) is type(row["interval"]) is float
    *_, chrf = scores.compare([hypotheses, hypotheses[::-1]], references)
    assert chrf.scores[0] == result["chrF"]["score"]


def test_several_references_are_scored_as_sacrebleu_does():
    others = [line.replace("three", "tres") for line in GOOD]
    result = scores.score(GOOD, REFERENCES, others, ter=True)
    streams = [REFERENCES, others]
    assert result["BLEU"]["score"] == sacrebleu.corpus_bleu(GOOD, streams).score
    assert result["BLEU"]["score"] > scores.score(GOOD, REFERENCES)["BLEU"]["score"] + 5
    assert result["chrF"]["score"] == sacrebleu.corpus_chrf(GOOD, streams).score
    assert result["TER"]["score"] == sacrebleu.corpus_ter(GOOD, streams).score
    assert all("nrefs:2" in row["signature"] for row in result.values())
    comparisons = scores.compare([GOOD, BAD], REFERENCES, others, ter=True)
    said = scores.comparison_table(comparisons)
    assert said.count("nrefs:2") == 4
    assert f"BLEU {result['BLEU']['score']:.1f} ±" in said


def test_an_empty_line_is_no_reference_where_there_is_another_one():
    references = scores.without_missing([["a b c d", "", ""], ["", "e f g h", ""]])
    assert [*map(list, references)] == [["a b c d", None, ""], [None, "e f g h", ""]]
    result = scores.score(["a b c d", "e f g h", ""], *references, ter=True)
    assert [round(row["score"]) for row in result.values()] == [100, 100, 100, 0]


def test_ter_is_sacrebleus_and_of_characters_in_text_without_spaces():
    result = scores.score(GOOD, REFERENCES, ter=True)
    assert list(result) == ["BLEU", "BLEU, lower-cased", "chrF", "TER"]
    assert result["TER"]["score"] == sacrebleu.corpus_ter(GOOD, [REFERENCES]).score > 0
    assert result["TER"]["interval"] > 0
    assert "tok:tercom|" in result["TER"]["signature"]
    assert list(scores.score(GOOD, REFERENCES, ter=True, lowercase=True))[-1] == "TER"
    for tokenize, text in (("zh", "今晚一个孩子去学校"), ("char", "สุนัขสองตัวเล่นในสวน")):
        wrong = text[:-1] + "x"
        result = scores.score([wrong], [text], ter=True, tokenize=tokenize)
        assert abs(result["TER"]["score"] - 100 / len(text)) < 0.01


def test_references_are_scored_in_the_spelling_that_translations_have(monkeypatch):
    said = []
    monkeypatch.setattr(scores.log, "info", said.append)
    hypotheses = ["Você não está à mesa.", "Até já, avô e avó."]
    assert round(scores.score(hypotheses, hypotheses)["BLEU"]["score"]) == 100
    assert not said
    decomposed = [unicodedata.normalize("NFD", line) for line in hypotheses]
    marked = [line.replace(" ", "\u00a0").replace("v", "v\u00ad") for line in hypotheses]
    for references in (decomposed, marked):
        result = scores.score(hypotheses, references, [None, hypotheses[1]], ter=True)
        assert [round(row["score"], 6) for row in result.values()] == [100, 100, 100, 0]
        text = scores.comparison_table(scores.compare([hypotheses, references], references))
        assert text.count("100.0 ± 0.0 against 100.0 ± 0.0") == 3
    assert [line.partition(" have")[0] for line in said] == [
        "2 of 3 references", "2 of 2 references"
    ] * 2  # fmt: skip


@pytest.mark.parametrize(
    ("translations", "references", "reason"),
    [
        (["Red Car", "Blue House"], ["Red Car", "Blue House"], "no translation has four words"),
        (["", ""], ["Red Car", "Blue House"], "no translation has a word"),
        (["a b c d"], ["e f g h"], "no translation has a word in common with its reference"),
        (["a b c d"], ["a b c d"], None),
        (["a b x y", "c d"], ["a b c d", "c d"], None),
    ],
)
def test_a_bleu_of_zero_comes_with_its_reason(
    translations, references, reason, monkeypatch, caplog
):
    monkeypatch.setattr(scores.log, "propagate", True)
    for evaluate in (
        lambda: scores.score(translations, references),
        lambda: scores.compare([translations, translations], references),
    ):
        caplog.clear()
        evaluate()
        lines = [line for line in caplog.messages if "is 0.0" in line]
        if reason:
            assert f"BLEU is 0.0: {reason}" in lines[0]
        else:
            assert lines == []
