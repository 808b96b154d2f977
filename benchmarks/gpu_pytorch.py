"""A row of gpu.py: training steps of torch.nn.Transformer, without TensorFlow in the process.

    python benchmarks/gpu_pytorch.py '{"options": ..., "precision": "bfloat16", ...}'

Prints JSON. (Why without TensorFlow: see torch_network.py.)
"""

import dataclasses
import json
import statistics
import sys
import time
from pathlib import Path

import torch
from torch_network import torch_network

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nmt.options import Options

PAD, FIRST_ID = 0, 4  # as in transformer_model.py, which imports TensorFlow; after START and END


def main(work: dict) -> None:
    """Measures what gpu.py asks for: `rows` and `length` of a batch, `steps`, values of options."""
    torch.set_float32_matmul_precision("high")  # TensorFloat-32, as TensorFlow has it
    place = "cuda" if torch.cuda.is_available() else "cpu"
    if work["needs_gpu"] and place == "cpu":
        raise SystemExit("PyTorch does not see the GPU")
    options = Options(**work["options"])
    rows, length = work["rows"], work["length"]
    vocab_size = options.vocab_size
    network = torch_network(dataclasses.replace(options, max_length=length), vocab_size, PAD).to(
        place
    )
    forward = torch.compile(network) if work["compiled"] else network
    optimizer = torch.optim.Adam(network.parameters())
    inp = torch.randint(FIRST_ID, vocab_size, (rows, length), device=place)
    tar = torch.randint(FIRST_ID, vocab_size, (rows, length + 1), device=place)

    def step():
        started = time.perf_counter()
        with torch.autocast(place, torch.bfloat16, enabled=work["precision"] == "bfloat16"):
            logits = forward(inp, tar[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), tar[:, 1:].flatten(), ignore_index=PAD,
            label_smoothing=options.label_smoothing,
        )  # fmt: skip
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()  # waits for the device
        return time.perf_counter() - started

    first = step()
    for _ in range(2):
        step()
    if place == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = statistics.mean(step() for _ in range(work["steps"]))
    peak = torch.cuda.max_memory_allocated() if place == "cuda" else 0
    print(json.dumps(dict(first=first, tokens_per_second=rows * length / seconds, peak=peak)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
