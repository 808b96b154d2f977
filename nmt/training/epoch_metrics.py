"""What epochs are compared by: loss, accuracy and BLEU of validation. Without TensorFlow."""

from typing import Any

INFORMATIVE_BLEU = 1.0  # a lower one says as little as 0


def value_to_minimize(metrics: dict[str, Any]) -> tuple[float, ...]:
    """Returns what epochs are compared by: validation loss; or BLEU, and for equal BLEU the loss.

    A BLEU below INFORMATIVE_BLEU counts as 0, so that the loss decides.
    """
    if "val_bleu" not in metrics:
        return (metrics["val_loss"],)
    bleu = metrics["val_bleu"] if metrics["val_bleu"] >= INFORMATIVE_BLEU else 0.0
    return -round(bleu, 2), metrics["val_loss"]


def value_for_early_stopping(metrics: dict[str, Any]) -> tuple[float, ...]:
    """Returns what early stopping waits for: the loss, or BLEU alone once it is informative."""
    value = value_to_minimize(metrics)
    bleu_counts = "val_bleu" in metrics and value[0] < 0
    return value[:1] if bleu_counts else value


def validation_metrics(metrics: dict[str, Any]) -> dict[str, float]:
    """Returns those of the validation split by names without their prefix: loss, accuracy, bleu."""
    prefix = "val_"
    return {
        name.removeprefix(prefix): value
        for name, value in metrics.items()
        if name.startswith(prefix)
    }


def metrics_text(metrics: dict[str, Any]) -> str:
    """Returns metrics of the validation split as text."""
    bleu = f", BLEU {metrics['val_bleu']:.1f}" if "val_bleu" in metrics else ""
    return f"loss {metrics['val_loss']:.3f}, accuracy {metrics['val_accuracy']:.3f}{bleu}"
