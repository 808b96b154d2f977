"""An attention explorer: one HTML file that needs nothing else, for sentences and their weights."""

import json
from pathlib import Path

TEMPLATE = Path(__file__).with_suffix(".html")
DIGITS = 4  # of a weight


def page(sentences):
    """Returns the explorer of `sentences` as HTML.

    Args:
      sentences: a dict each: text; source and target, token strings; and for encoder, decoder and
        cross a list of weights (H, queries, keys), a layer each.
    """
    rows = [
        {
            **{name: sentence[name] for name in ("text", "source", "target")},
            **{
                kind: [layer.astype(float).round(DIGITS).tolist() for layer in sentence[kind]]
                for kind in ("encoder", "decoder", "cross")
            },
        }
        for sentence in sentences
    ]
    # Within a script element nothing but "<" could end it or begin a comment.
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("/*DATA*/", data)
