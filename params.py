"""All hyperparameters: default, meaning and, where there is one, source.

Each constant is written once, as `NAME: Annotated[type, Flag(...)] = default`. From that one line
come the command-line flag (`NUM_LAYERS` -> `--num-layers`), its help text, the check of its range
and the value saved in a run's `params.json`. A `Section` begins each group of them, here and in
`--help`. `PRESETS` are named sets of values that replace the defaults.

Sources: "paper" is Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762); "tutorial"
is TensorFlow's "Transformer model for language understanding" (Portuguese to English) in its
edition of 2019 to 2021. "tutorial" or "paper 5.3" (a section) without a value: the default comes
from there. "paper: 6" names the paper's value. docs/names.md has all values in one table.
"""

import sys
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints


class Flag(NamedTuple):
    """What a constant is, and which values it may take (bounds included)."""

    help: str
    low: float | None = None  # None: no bound
    high: float | None = None  # None: no bound; of an int, 2^31 - 1
    alias: str | None = None  # a second, better known name of the flag
    choices: tuple[str, ...] | None = None  # the only values


class Section(str):
    """The title of the constants that follow."""


class Param(NamedTuple):
    """One row of the table that the command line and the run folder are made from."""

    section: Section
    name: str  # num_layers
    type: type
    default: Any
    flag: Flag


TUTORIAL = Section("The tutorial's settings")

DATA_PATH: Annotated[
    str,
    Flag(
        "a TFDS translation dataset, 'bundled', 'bundled-conversation', 'bundled-zh', "
        "'winter-games', or a file of pairs (.tsv, .csv, .xlsx, .tmx, .xlf); tutorial: TED talks",
        alias="dataset",
    ),
] = "ted_hrlr_translate/pt_to_en"
BUFFER_SIZE: Annotated[
    int, Flag("neighboring pairs that are shuffled together (tutorial: 20000); 0: all", low=0)
] = 0
BATCH_SIZE: Annotated[
    int, Flag("pairs of average length per batch, over all devices; tutorial", 1, 100_000)
] = 64
MAX_LENGTH: Annotated[
    int,
    Flag(
        "maximum tokens per side (tutorial); longer training pairs are dropped",
        1,
        100_000,
    ),
] = 40
EPOCHS: Annotated[int, Flag("passes over the training pairs; tutorial: 20 (try 1 first)", 1)] = 20
NUM_LAYERS: Annotated[int, Flag("layers of each stack; tutorial (paper: 6)", 1, 200)] = 4
D_MODEL: Annotated[int, Flag("width of a token's vector; tutorial (paper: 512)", 1, 65_536)] = 128
DFF: Annotated[
    int, Flag("width inside the feed-forward layers; tutorial (paper: 2048)", 1, 1_000_000)
] = 512
NUM_HEADS: Annotated[int, Flag("attention heads, must divide d_model; tutorial and paper", 1)] = 8
DROPOUT_RATE: Annotated[float, Flag("dropout rate; tutorial and paper 5.4", 0.0, 0.99)] = 0.1

# ---- All other settings, by topic ----

NETWORK = Section("Network")

DECODER_LAYERS: Annotated[
    int, Flag("layers of the decoder; 0: as many as --num-layers (fewer: arXiv 2006.10369)", 0, 200)
] = 0
PRE_NORM: Annotated[
    bool, Flag("normalize the input of each sub-layer, not the residual sum (arXiv 2002.04745)")
] = False
TIE_EMBEDDINGS: Annotated[
    bool, Flag("one matrix for source, target and logits (paper 3.4: yes; tutorial: three)")
] = False
ACTIVATION: Annotated[
    str,
    Flag(
        "function within the feed-forward layers; paper and tutorial: relu; OPUS-MT: swish (arXiv "
        "1710.05941)",
        choices=("relu", "swish"),
    ),
] = "relu"
NORM_EPSILON: Annotated[
    float, Flag("layer normalization's epsilon; tutorial: 1e-6; Marian: 1e-5", 1e-12, 0.1)
] = 1e-6
LOGITS_BIAS: Annotated[
    bool, Flag("with tied embeddings, also add a bias to the logits (paper: no; untied: always)")
] = False

TRAINING = Section("Training")

MAX_STEPS: Annotated[
    int,
    Flag("optimizer steps of the whole run, instead of --epochs (paper 5.2: 100,000); 0: off", 0),
] = 0
VALIDATE_EVERY: Annotated[
    int,
    Flag(
        "steps between validations (--epochs still counts passes); 0: one pass over the pairs",
        0,
    ),
] = 0
SAVE_EVERY: Annotated[
    int, Flag("steps between checkpoints within an epoch, besides --checkpoint-minutes; 0: off", 0)
] = 0
SCHEDULE: Annotated[
    str,
    Flag(
        "decay of the learning rate after warm-up: as the inverse square root of the step "
        "(tutorial, paper 5.3), along a cosine to 0 (arXiv 1608.03983), or none",
        choices=("inverse-sqrt", "cosine", "constant"),
    ),
] = "inverse-sqrt"
WARMUP_STEPS: Annotated[
    int, Flag("steps of linear growth of the learning rate; tutorial and paper 5.3", 1)
] = 4000
LEARNING_RATE_SCALE: Annotated[
    float, Flag("multiplies the paper's rate (peak 1 / sqrt(d_model x warmup_steps))", 1e-6, 1e6)
] = 1.0
OPTIMIZER: Annotated[
    str,
    Flag(
        "what updates the weights: Adam (tutorial, paper 5.3), or Muon for the matrices within "
        "layers, with Adam for the others (docs/lessons.md)",
        choices=("adam", "muon"),
    ),
] = "adam"
ADAM_BETA_1: Annotated[
    float, Flag("Adam's beta_1, decay of the first moment; tutorial and paper 5.3", 0.0, 0.9999)
] = 0.9
ADAM_BETA_2: Annotated[
    float, Flag("Adam's beta_2, decay of the second moment; tutorial and paper 5.3", 0.0, 0.99999)
] = 0.98
ADAM_EPSILON: Annotated[float, Flag("Adam's epsilon; tutorial and paper 5.3", 1e-12, 1.0)] = 1e-9
CLIP_NORM: Annotated[float, Flag("clips the global gradient norm; 0: off", 0.0, 1e9)] = 0.0
LABEL_SMOOTHING: Annotated[
    float, Flag("probability spread over the vocabulary; paper 5.4: 0.1; tutorial: none", 0.0, 0.99)
] = 0.0
ACCUMULATE: Annotated[int, Flag("batches per optimizer step; their gradients are added up", 1)] = 1

AVERAGE: Annotated[
    int,
    Flag(
        "last epochs whose weights may be averaged at the end; tutorial: 1 (paper: 5 checkpoints)",
        1,
        100,
    ),
] = 3
VALIDATE_BY: Annotated[
    str,
    Flag(
        "metric on the validation split that selects the best epoch and average",
        choices=("loss", "bleu"),
    ),
] = "loss"
CHECKPOINT_MINUTES: Annotated[
    float, Flag("minutes between checkpoints within an epoch; 0: as often as possible", 0.0)
] = 10.0
PATIENCE: Annotated[
    int, Flag("early stopping: epochs without improvement before training stops; 0: off", 0)
] = 0

DATA = Section("Data")

BATCH_TOKENS: Annotated[
    int, Flag("batch size in tokens (longer side, with padding); 0: use --batch-size", 0)
] = 0
AUGMENT: Annotated[
    float,
    Flag(
        "share of training sources that are read as people type them: without accents or "
        "punctuation, or with a typing error (arXiv 2311.14838)", 0.0, 1.0,
    ),
] = 0.0  # fmt: skip

TEXT = Section("Text")

PIECES: Annotated[
    str,
    Flag(
        "kind of tokens: SentencePiece's byte pairs, or the words between spaces",
        choices=("bpe", "word"),
    ),
] = "bpe"
VOCAB_SIZE: Annotated[
    int,
    Flag("vocabulary entries, shared by both languages; tutorial: about 2 x 8,000", 300, 1_000_000),
] = 8192
WORDS_PER_PIECE: Annotated[
    int,
    Flag(
        "short texts: at most one vocabulary entry per this many words, but 3,000 entries always "
        "(by trial; arXiv 2004.02334 recommends 100)",
        1,
    ),
] = 220
SYMBOLS: Annotated[
    str, Flag("words that are never split, such as target-language tags: '<2de> <2fr>'")
] = ""

SEARCH = Section("Search")

BEAM: Annotated[
    int,
    Flag("beam size; 1 is greedy search; tutorial (paper: 4)", 1, 64),
] = 1
LENGTH_PENALTY: Annotated[
    float, Flag("alpha of the length penalty of beam search; paper 6.1", 0.0, 10.0)
] = 0.6

SCORING = Section("Scoring")

TOKENIZE: Annotated[
    str,
    Flag(
        "sacreBLEU's tokenizer for BLEU; auto: by the target's language, 13a for most; 'none' for "
        "tokenized text",
        choices=("auto", "13a", "none", "intl", "char", "zh", "ja-mecab", "ko-mecab"),
    ),
] = "auto"
LOWERCASE: Annotated[bool, Flag("score lower-cased text only")] = False

DEVICE = Section("Where and how it runs")

SEED: Annotated[int, Flag("seed of weights, dropout, shuffling, held-out pairs", 0, 2**31 - 1)] = 42
MIXED_PRECISION: Annotated[
    bool, Flag("compute in bfloat16, with weights and logits in float32 (Keras mixed_bfloat16)")
] = False
XLA: Annotated[
    str,
    Flag(
        "compile the training step with XLA for each shape; auto: if there is a GPU",
        choices=("auto", "on", "off"),
    ),
] = "auto"


class Preset(NamedTuple):
    """A named row of values that differ from the defaults above."""

    description: str
    values: dict[str, Any]
    pairs: tuple[int, int] = (0, 0)  # fewest and most training pairs it suits


PRESETS = {
    "tutorial": Preset("the defaults: network, optimizer and schedule of the tutorial", {}),
    "ted": Preset(
        "the tutorial's network and corpus; what is around them chosen by trial "
        "(benchmarks/quality.md)",
        dict(
            label_smoothing=0.1, tie_embeddings=True, pre_norm=True, schedule="cosine",
            warmup_steps=600, learning_rate_scale=3.0, optimizer="muon", words_per_piece=100,
            batch_tokens=2048, max_length=80, epochs=10, beam=4,
        ),
    ),
    "quick": Preset(
        "a first look at the bundled corpus, in four minutes (walkthrough.ipynb trains it); chosen "
        "by trial (benchmarks/quality.md)",
        dict(
            data_path="bundled", num_layers=2, tie_embeddings=True, dropout_rate=0.0,
            schedule="cosine", warmup_steps=400, optimizer="muon", epochs=7,
            buffer_size=20_000,  # shuffling blocks trained more reliably than shuffling all pairs
        ),
    ),
    "tiny": Preset(
        "tens of thousands of pairs: sizes, label smoothing and averaging of Wu et al. 2021 (arXiv "
        "2105.14462) on Multi30k; the rest by trial (benchmarks/quality.md)",
        dict(
            dff=256, num_heads=4, dropout_rate=0.2, label_smoothing=0.1, tie_embeddings=True,
            pre_norm=True, schedule="cosine", warmup_steps=2000, learning_rate_scale=2.0,
            words_per_piece=100, batch_tokens=1024, max_length=80, epochs=60, average=10,
            validate_by="bleu", beam=5, length_penalty=1.0,
        ),
        pairs=(10_000, 40_000),
    ),
    "small": Preset(
        "40,000 to 1,000,000 pairs: sizes between tiny's and base's (benchmarks/quality.md)",
        dict(
            num_layers=3, d_model=256, dff=1024, num_heads=4, dropout_rate=0.3, label_smoothing=0.1,
            tie_embeddings=True, pre_norm=True, schedule="cosine", warmup_steps=2000,
            learning_rate_scale=1.5, vocab_size=16_000, words_per_piece=450, batch_tokens=2048,
            max_length=80, average=5, validate_by="bleu", beam=5, length_penalty=1.0,
        ),
        pairs=(40_000, 1_000_000),
    ),
    "winter-games": Preset(
        "one sentence, learned in 20 steps: sizes from a beginner's lesson; its post-norm with a "
        "constant rate of 0.001 fails to learn (docs/lessons.md), so both are changed here",
        dict(
            data_path="winter-games", pieces="word", num_layers=6, d_model=512, dff=2048,
            dropout_rate=0.0, pre_norm=True, schedule="constant", warmup_steps=1,
            learning_rate_scale=0.0068,  # a rate of 0.0003
            average=1, tokenize="none",
        ),
    ),
    "base": Preset(
        "the paper's base model (table 3), for millions of pairs and a GPU",
        dict(
            num_layers=6, d_model=512, dff=2048, label_smoothing=0.1, tie_embeddings=True,
            vocab_size=37000, batch_tokens=25000, max_length=256, average=5, beam=4,
        ),
        pairs=(1_000_000, 10**9),
    ),
}  # fmt: skip


def table() -> list[Param]:
    """Returns every constant above as a list of `Param`, in the order written."""
    module, rows = sys.modules[__name__], []  # its variables are in the order written
    hints = get_type_hints(module, include_extras=True)
    for name, value in vars(module).items():
        if isinstance(value, Section):
            section = value
        elif name in hints:
            kind, flag = get_args(hints[name])
            rows.append(Param(section, name.lower(), kind, value, flag))
    return rows


def values(preset: str = "tutorial") -> dict[str, Any]:
    """Returns a value by name for every constant above: the preset's, or else its default."""
    return {row.name: row.default for row in table()} | PRESETS[preset].values


def names(*sections: Section) -> tuple[str, ...]:
    """Returns the names of the constants in `sections`, in the order written."""
    return tuple(row.name for row in table() if row.section in sections)
