"""What must hold of scores: they are sacreBLEU's, and say how sure they are."""

import re

import sacrebleu
from helpers import sentences

from nmt.results import scores

REFERENCES = [target for _, target in sentences(60)]
GOOD = [line.replace("one", "two") for line in REFERENCES]
BAD = [line.replace("one", "two").replace("four", "five") for line in REFERENCES]
SHUFFLED = [line.replace("one" if n % 2 else "two", "six") for n, line in enumerate(REFERENCES)]


def test_scores_are_those_of_sacrebleu_with_half_of_their_interval():
    found = scores.score(GOOD, REFERENCES)
    assert list(found) == ["BLEU", "BLEU, lower-cased", "chrF"]
    assert found["BLEU"]["score"] == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert found["chrF"]["score"] == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    assert 1 < found["BLEU"]["interval"] < 20
    assert "bs:1000" in found["BLEU"]["signature"]
    assert scores.score(REFERENCES, REFERENCES)["BLEU"]["interval"] == 0


def test_tokenizer_and_case_are_as_asked_for():
    found = scores.score(["A b , c d"], ["a B , C d"], tokenize="none", lowercase=True)
    assert list(found) == ["BLEU, lower-cased", "chrF, lower-cased"]
    assert round(found["BLEU, lower-cased"]["score"], 3) == 100
    assert "case:lc" in found["chrF, lower-cased"]["signature"]
    assert "tok:none" in found["BLEU, lower-cased"]["signature"]


def test_text_that_is_said_to_come_tokenized_is_not_warned_of(caplog):
    lines = ["a line ."] * 200
    scores.bleu("13a").corpus_score(lines, [lines])
    assert "tokenized" in caplog.text
    caplog.clear()
    scores.bleu("none").corpus_score(lines, [lines])
    assert not caplog.text


def test_a_difference_is_distinguished_from_chance():
    def chances(hypotheses, others):
        return [
            float(p)
            for p in re.findall(r"p = (\S+)", scores.comparison(hypotheses, others, REFERENCES))
        ]

    assert all(p < 0.01 for p in chances(GOOD, BAD))
    assert all(p < 0.01 for p in chances(BAD, GOOD))  # either way
    assert all(p > 0.05 for p in chances(SHUFFLED, GOOD))
    assert chances(GOOD, GOOD) == [1, 1, 1]
