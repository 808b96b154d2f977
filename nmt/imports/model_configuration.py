"""What the configuration of a model of transformers says: sizes, special ids, search, languages."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from nmt.imports.model_folder import ModelFolder
from nmt.messages import log, plural
from nmt.options import Options
from nmt.runs.parameters import error_in_options

CONFIG, GENERATION = "config.json", "generation_config.json"
FAMILIES = {"marian": False, "pegasus": True}  # by name, whether they normalize first
TWINS = ("attention_heads", "ffn_dim")  # of encoder and decoder, which are alike here
UNSUPPORTED = ("normalize_embedding", "add_bias_logits", "extra_pos_embeddings")

# Fine-tuning of a network that knows much: small steps, with a short warm-up, over few epochs.
PEAK_RATE, WARMUP_STEPS, EPOCHS = 1e-4, 50, 5
LABEL_SMOOTHING = 0.1  # OPUS-MT was trained with it
MAX_LENGTH, BATCH_TOKENS = 256, 1024


class SpecialIds(NamedTuple):
    """The ids, in a model of transformers, of what has the first four here."""

    pad: int
    unknown: int
    start: int
    end: int


class Description(NamedTuple):
    """What the configuration says."""

    options: Options
    ids: SpecialIds
    is_tied: bool  # whether one matrix is the embedding of sources, of targets, and of logits
    scales: bool  # whether embeddings are multiplied by sqrt(D)
    never: frozenset[int]  # ids that are never predicted


def describe(folder: ModelFolder, name: str) -> Description:
    """Returns what the configuration says; a UserError if no network here is like it."""
    config = folder.json_of(CONFIG)
    check_form(folder, config)
    is_tied = bool(
        config.get("share_encoder_decoder_embeddings", True)
        and config.get("tie_word_embeddings", True)
    )
    scales = config.get("scale_embedding") is True
    if is_tied and not scales:
        raise folder.error(CONFIG, "scale_embedding: this network has no such form")
    ids = special_ids(folder, config)
    # Older folders have what generates in config.json.
    generation = config | folder.json_of(GENERATION, is_optional=True)
    never = never_ids(folder, generation) - {*ids}
    options = options_of(folder, config, generation, name)
    has_bias = is_tied and (bool(never) or not folder.has("tokenizer.model"))
    values = options.by_name() | dict(tie_embeddings=is_tied, logits_bias=has_bias)
    return Description(Options(**values), ids, is_tied, scales, never)


def check_form(folder: ModelFolder, config: dict[str, Any]) -> None:
    """Raises a UserError if a network is of another family, or of another form within it."""
    family = config.get("model_type")
    if family not in [*FAMILIES]:
        raise folder.error(
            CONFIG, f"is of the family {family!r}; {' and '.join(FAMILIES)} can be imported"
        )
    if FAMILIES[family] and not folder.has("tokenizer.model"):
        raise folder.error(
            CONFIG,
            "a Pegasus of others has another kind of vocabulary; of these, only the exports of "
            "this program can be imported",
        )
    wrong = [name for name in UNSUPPORTED if config.get(name)]
    if config.get("normalize_before", FAMILIES[family]) != FAMILIES[family]:
        wrong.append("normalize_before")
    wrong += [
        name for name in TWINS if config.get(f"encoder_{name}") != config.get(f"decoder_{name}")
    ]
    if wrong:
        raise folder.error(CONFIG, f"{wrong[0]}: this network has no such form")


def special_ids(folder: ModelFolder, config: dict[str, Any]) -> SpecialIds:
    """Returns the special ids; a UserError if config.json lacks one."""
    unknown = 1  # of Marian, and of this program
    if folder.has("vocab.json"):
        unknown = folder.json_of("vocab.json").get("<unk>", unknown)
    names = ("pad_token_id", "decoder_start_token_id", "eos_token_id")
    numbers: list[Any] = [config.get(name) for name in names]
    for name, number in zip(names, numbers, strict=True):
        if type(number) is not int:
            raise folder.error(CONFIG, f"{name} is {number!r}, no number")
    pad, start, end = numbers
    return SpecialIds(pad, unknown, start, end)


def never_ids(folder: ModelFolder, generation: dict[str, Any]) -> frozenset[int]:
    """Returns the ids that are never predicted; a UserError if they are no lists of ids."""
    rows = generation.get("bad_words_ids") or []
    single = generation.get("suppress_tokens") or []
    try:
        rows = [[*row] for row in rows] + [[number] for number in single]
    except TypeError:
        rows = [[None]]
    if not all(type(number) is int for row in rows for number in row):
        raise folder.error(GENERATION, "bad_words_ids or suppress_tokens: are no lists of ids")
    if longer := sum(len(row) > 1 for row in rows):
        log.warning(
            f"bad_words_ids: {plural(longer, 'row')} of several tokens are left out: the search "
            "forbids single ones."
        )
    return frozenset(row[0] for row in rows if len(row) == 1)


def options_of(
    folder: ModelFolder, config: dict[str, Any], generation: dict[str, Any], name: str
) -> Options:
    """Returns the Options of a run of such a network, to be fine-tuned; a UserError if none fit."""
    layers, decoder_layers = config.get("encoder_layers"), config.get("decoder_layers")
    width, activation = config.get("d_model"), config.get("activation_function")
    network = dict(
        num_layers=layers,
        decoder_layers=0 if decoder_layers == layers else decoder_layers,
        d_model=width,
        dff=config.get("encoder_ffn_dim"),
        num_heads=config.get("encoder_attention_heads"),
        dropout_rate=config.get("dropout", 0.1),
        pre_norm=FAMILIES[config["model_type"]],
        activation="swish" if activation == "silu" else activation,
        norm_epsilon=config.get("layer_norm_epsilon", 1e-5),
    )
    search = dict(
        beam=generation.get("num_beams", 1), length_penalty=generation.get("length_penalty", 1.0)
    )
    training = dict(
        data_path=name,
        epochs=EPOCHS,
        schedule="inverse-sqrt",
        warmup_steps=WARMUP_STEPS,
        label_smoothing=LABEL_SMOOTHING,
        max_length=MAX_LENGTH,
        batch_tokens=BATCH_TOKENS,
        xla="off",
    )
    if type(width) is int and width > 0:
        training["learning_rate_scale"] = PEAK_RATE * math.sqrt(width * WARMUP_STEPS)
    values = Options().by_name() | training
    for file, part in ((CONFIG, network), (GENERATION, search)):
        values |= part
        if wrong := error_in_options(values):
            raise folder.error(file, wrong)
    return Options(**values)


def languages_of(folder: ModelFolder, tag: str) -> tuple[str, ...]:
    """Returns the codes of the languages that the tokenizer's configuration names, if it does."""
    from nmt.text.languages import canonical

    named = folder.json_of("tokenizer_config.json", is_optional=True)
    source, target = named.get("source_lang"), tag.strip("<>") or named.get("target_lang")
    codes = [
        canonical(str(code)) or canonical(str(code).split("_")[0])  # "pt_BR"; "eng_Latn"
        for code in (source, target)
        if code
    ]
    return tuple(code for code in codes if code) if len(codes) == 2 and all(codes) else ()
