"""Scoring from Python, for applications; docs/api.md describes all that is public."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt import UserError
from nmt.keywords import suggests_keywords
from nmt.results import evaluation, scores
from nmt.runs import loading
from nmt.runs.run_corpus import load_corpus_of


@suggests_keywords
def evaluate(
    path: str | Path | None = None,
    sources: Sequence[str] | None = None,
    references: Sequence[str] | None = None,
    *,
    checkpoint: str | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    ter: bool = False,
) -> dict[str, Any]:
    """Translates text by a run, and scores the translations by BLEU and chrF.

    Args:
      path: the run folder; None for the newest one in runs/, if all are of one corpus.
      sources: lines to translate; None for the run's own test split.
      references: a translation of each, to compare with.
      checkpoint: "final", "newest" or "best"; None for the one that `load_translator` chooses.
      beam, length_penalty: of the search; None for the run's own.
      ter: compute TER, too.

    Returns:
      Scores by name, as in scores.json: "BLEU", "chrF" and so on, each with its signature; of the
      test split also its loss in nats and its accuracy.

    Raises:
      UserError: there is no such run, its test split has changed, or there are not as many
        references as sources.
      TypeError: there is no such argument.
    """
    search: dict[str, Any] = {"beam": beam, "length_penalty": length_penalty}
    changed = {name: value for name, value in search.items() if value is not None}
    run, tokenizer, model = loading.load(path, checkpoint, **changed)
    if sources is None and references is None:
        test_scores, _ = evaluation.evaluate(model, tokenizer, load_corpus_of(run, "test"), ter)
        return test_scores
    if not sources or not references or len(sources) != len(references):
        raise UserError("evaluate needs as many references as sources, and at least one")
    translations = evaluation.translate_all(model, tokenizer, sources)
    scoring = evaluation.scoring_options(model, references)
    rows = scores.score(translations, references, ter=ter, **scoring)
    return {"lines": len(translations), **rows}
