"""The attention weights of a translated sentence, by kind and layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the command line reads KINDS before anything slow is imported
    import numpy as np


class Kind(NamedTuple):
    """A kind of attention."""

    layer: str  # the key of the weights of a layer, to be formatted with its number from 1
    title: str


KINDS = {
    "encoder": Kind("encoder_layer{}", "Encoder self-attention: source attends to source"),
    "decoder": Kind("decoder_layer{}_block1", "Decoder self-attention: target attends to target"),
    "cross": Kind("decoder_layer{}_block2", "Cross-attention: target attends to source"),
}


class Attention(NamedTuple):
    """The attention weights of a translated sentence."""

    source: list[str]  # S tokens, START first and END last
    target: list[str]  # 1 + T tokens of the translation, START first
    weights: dict[str, np.ndarray]  # (H, queries, keys), keyed as the Transformer does
    texts: tuple[str, str] = ("", "")  # the sentence and its translation

    def layers(self, kind: str) -> int:
        """Returns the number of layers that have one of KINDS: those of the encoder or decoder."""
        before, after = KINDS[kind].layer.split("{}")
        return sum(name.startswith(before) and name.endswith(after) for name in self.weights)

    def select(
        self, kind: str = "cross", layer: int | None = None
    ) -> tuple[np.ndarray, list[str], list[str]]:
        """Returns weights (H, Q, K), Q queries and K keys (token strings) of one of KINDS.

        Row t of cross-attention is labelled with target token t + 1, which it predicted.

        Args:
          layer: 1, 2, ...; None for the last one.

        Raises:
          ValueError: there is no such kind or layer.
        """
        if kind not in KINDS:
            raise ValueError(f"kinds are {', '.join(KINDS)}")
        layers = self.layers(kind)
        layer = layers if layer is None else layer
        if not 1 <= layer <= layers:
            raise ValueError(f"layers of {kind} attention are 1 to {layers}")
        tar_inp, generated = self.target[:-1], self.target[1:]
        queries = {"encoder": self.source, "decoder": tar_inp, "cross": generated}[kind]
        keys = tar_inp if kind == "decoder" else self.source
        return self.weights[KINDS[kind].layer.format(layer)], queries, keys
