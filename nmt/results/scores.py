"""Scores of translations by sacreBLEU, with confidence intervals and significance tests."""

import json

import sacrebleu
from sacrebleu.significance import PairedTest

from nmt.messages import log

BOOTSTRAP_SAMPLES = 1000  # Koehn 2004
TOKENIZED_SHARE = 0.3  # of the references, at least, that end so


class CHRF(sacrebleu.CHRF):
    """sacreBLEU's chrF, whose score is always a Python float.

    sacreBLEU 2.6 computes the scores of bootstrap samples in float32, but 0.0 for a sample without
    a common n-gram is a float, and its mean over both types raises a TypeError.
    """

    def _compute_score_from_stats(self, stats):
        result = super()._compute_score_from_stats(stats)
        result.score = float(result.score)
        return result


def bleu(tokenize="13a", lowercase=False):
    """Returns sacreBLEU's BLEU, without its warning about tokenized text: see below."""
    return sacrebleu.BLEU(lowercase=lowercase, tokenize=tokenize, force=True)


def warn_of_tokenized_text(references, tokenize="13a", **options):
    """Logs that the references are tokenized text, if they are and are to be tokenized again.

    Args:
      references: strings.
      tokenize: sacreBLEU's tokenizer.
      options: others of `metrics`.
    """
    if tokenize == "none" or not references:
        return
    apart = sum(line.endswith(" .") for line in references)
    if apart > TOKENIZED_SHARE * len(references):
        log.warning(
            f"The references seem to be tokenized: {apart} of {len(references)} end in a space and "
            "a full stop. To score them as they are: --tokenize none"
        )


def metrics(tokenize="13a", lowercase=False):
    """Returns sacreBLEU's metrics by the names they are reported under."""
    lower = {
        "BLEU, lower-cased": bleu(tokenize, lowercase=True),
        "chrF, lower-cased": CHRF(lowercase=True),
    }
    if lowercase:
        return lower
    cased = {"BLEU": bleu(tokenize), "chrF": CHRF()}
    return {name: (cased | lower)[name] for name in ("BLEU", "BLEU, lower-cased", "chrF")}


def score(hypotheses, references, **options):
    """Returns a dict for each of `metrics`: score, half of its 95% interval, signature."""
    found = {}
    for name, metric in metrics(**options).items():
        result = metric.corpus_score(hypotheses, [references], n_bootstrap=BOOTSTRAP_SAMPLES)
        signature = str(metric.get_signature())
        details = json.loads(result.format(signature=signature, is_json=True))
        found[name] = {
            "score": result.score,
            "interval": float(details.get("confidence_var", 0.0)),  # left out where all is 0
            "signature": signature,
        }
    return found


def table(found):
    """Returns what `score` found as text, one line per metric."""
    return "\n".join(
        f"{name} {row['score']:.1f} ± {row['interval']:.1f}   ({row['signature']})"
        for name, row in found.items()
    )


def comparison(hypotheses, others, references, **options):
    """Returns as text, one line per metric: both scores and the p-value of their difference.

    By paired bootstrap resampling (Koehn 2004), as sacreBLEU does it. Scores as in `table`.
    """
    lines = []
    for name, metric in metrics(**options).items():
        systems = [("other", others), ("this", hypotheses)]
        signatures, found = PairedTest(
            systems, {name: metric}, [references], "bs", BOOTSTRAP_SAMPLES
        )()
        (signature,), (_, (other, this)) = signatures.values(), found.values()
        # sacreBLEU counts samples with a larger difference; identical outputs have none.
        p_value = 1.0 if hypotheses == others else this.p_value
        lines.append(
            f"{name} {this.score:.1f} ± {this.ci:.1f} against {other.score:.1f} ± {other.ci:.1f}, "
            f"p = {p_value:.3f}   ({signature})"
        )
    return "\n".join(lines)
