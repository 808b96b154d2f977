"""The attention explorer: a self-contained HTML page of sentences and their attention weights."""

import json
from pathlib import Path

from nmt.decoding.attention import KINDS

TEMPLATE = Path(__file__).with_suffix(".html")
DIGITS = 4  # of a weight


def page(run, sentences):
    """Returns the explorer of `sentences` as HTML.

    Args:
      run: its name.
      sentences: the Attention of each.
    """
    rows = []
    for seen in sentences:
        layers, (text, translation) = range(1, seen.layers + 1), seen.texts
        rows.append(
            dict(text=text, translation=translation, source=seen.source, target=seen.target)
        )
        for kind in KINDS:
            weights = (seen.select(kind, layer)[0] for layer in layers)
            rows[-1][kind] = [weight.astype(float).round(DIGITS).tolist() for weight in weights]
    # Within a script element nothing but "<" could end it or begin a comment.
    data = dict(run=run, sentences=rows)
    data = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("/*DATA*/", data)
