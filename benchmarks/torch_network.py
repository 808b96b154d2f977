"""torch.nn.Transformer with embeddings and logits, for the benchmarks that compare with PyTorch.

It imports no TensorFlow: in one process, the two can get in each other's way as they look for
CUDA's libraries, and PyTorch then sees no GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from nmt.options import Options


def torch_network(options: Options, vocab_size: int, pad: int) -> torch.nn.Module:
    """Returns torch.nn.Transformer with embeddings and logits.

    By itself it drops attention weights and feed-forward activations, too, at its one rate.
    """
    width, rate = options.d_model, options.dropout_rate
    decoder_layers = options.decoder_layers or options.num_layers

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = torch.nn.Transformer(
                width, options.num_heads, options.num_layers, decoder_layers,
                options.dff, dropout=rate, batch_first=True, norm_first=options.pre_norm,
            )  # fmt: skip
            for layer in (*self.transformer.encoder.layers, *self.transformer.decoder.layers):
                layer.dropout.p = 0.0
                for name in ("self_attn", "multihead_attn"):  # the second, of decoder layers only
                    if attention := getattr(layer, name, None):
                        attention.dropout = 0.0
            self.source = torch.nn.Embedding(vocab_size, width)
            self.target = torch.nn.Embedding(vocab_size, width)
            self.positions = torch.nn.Embedding(options.max_length, width)
            self.dropout = torch.nn.Dropout(rate)
            self.final = torch.nn.Linear(width, vocab_size)
            if options.tie_embeddings:
                self.target.weight = self.final.weight = self.source.weight

        def forward(self, inp, tar):
            source, target = (
                self.dropout(table(ids) * width**0.5 + self.positions.weight[: ids.shape[1]])
                for table, ids in ((self.source, inp), (self.target, tar))
            )
            length = tar.shape[1]
            later = torch.ones(length, length, dtype=torch.bool, device=tar.device).triu(1)
            return self.final(
                self.transformer(
                    source,
                    target,
                    tgt_mask=later,
                    tgt_is_causal=True,
                    src_key_padding_mask=inp == pad,
                    tgt_key_padding_mask=tar == pad,
                    memory_key_padding_mask=inp == pad,
                )
            )

    return Network()
