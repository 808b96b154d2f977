"""The pictures: a table of them, and what each is drawn from. See plots.py for the drawing.

Without TensorFlow and matplotlib until one is drawn: the command line is made from the table.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt import UserError, output
from nmt.messages import log, plural
from nmt.options import Options
from nmt.results import texts
from nmt.results.ranking import read_ranking
from nmt.training.run_folder import RunFolder

if TYPE_CHECKING:
    import tensorflow as tf

    from nmt.corpus.batches import Batches
    from nmt.decoding.attention import Attention
    from nmt.decoding.model import Model
    from nmt.text.tokenizer import Tokenizer

MAX_ENCODING_VALUES = 10_000_000  # positions times dimensions: drawing takes a second per million
TUTORIAL_STEPS = 40_000  # of its picture of the learning rate
FORMATS = (".png", ".svg", ".pdf")


class Pictures:
    """Draws pictures: a method for each picture. Those here need no trained run.

    `steps` are of training, for the learning rate; the language of texts is one of texts.LANGUAGES.
    """

    def __init__(
        self,
        folder: Path,
        options: Options,
        steps: int | tf.Variable = TUTORIAL_STEPS,
        language: str = "en",
    ):
        self.folder, self.options, self.steps = folder, options, steps
        self.language, self.say = language, texts.in_language(language)

    def draw(self, picture: Picture, to: str | Path | None = None, **choices: Any) -> str | Path:
        """Draws a picture, with values of its flags. Returns the path of the file.

        Without a path it is a .png in the folder, whose name says what was chosen.
        """
        if self.language == "zh":
            self.use_chinese_fonts()
        if to:
            with output.new(to) as unfinished:
                picture.draw(self, unfinished, **picture.flags | choices)
            return to
        name = picture.file_name(choices, self.language)
        return picture.draw(self, self.folder / name, **picture.flags | choices)

    def use_chinese_fonts(self) -> None:
        """Chooses fonts that show the Chinese texts; a UserError if none is installed."""
        from nmt.results import figures

        if figures.use_fonts_for(*texts.CHINESE.values()):
            raise UserError(
                "--lang zh: no installed font shows Chinese; install one, for example on Debian or "
                "Ubuntu: apt install fonts-noto-cjk"
            )

    def positional_encoding(
        self, path: Path, positions: int, depth: int | None, position: int | None
    ) -> Path:
        """Of `positions` in `depth` dimensions (d_model); compares one of them with the others."""
        from nmt.results import plots

        if position is not None and not 0 <= position < positions:
            raise UserError(
                f"--position {position}: positions 0 to {positions - 1} are drawn; name one of "
                "them, or raise --positions"
            )
        depth = depth or self.options.d_model
        if positions * depth > MAX_ENCODING_VALUES:
            raise UserError(
                f"--positions {positions} and --depth {depth}: {positions * depth:,} values; at "
                f"most {MAX_ENCODING_VALUES:,} are drawn; lower one of them"
            )
        return plots.positional_encoding(path, positions, depth, position, self.say)

    def sweep(self, path: Path, ranking: str | None) -> Path:
        """Of the runs of a search, as the file `ranking` holds them."""
        from nmt.results import plots

        if ranking is None:
            raise UserError("plot sweep: name the runs: --ranking FILE")
        return plots.sweep(path, read_ranking(ranking), self.say)

    def scaling(self, path: Path) -> Path:
        from nmt.results import plots

        return plots.scaling(path, say=self.say)

    def schedule(self, path: Path) -> Path:
        from nmt.results import plots
        from nmt.training.schedules import SCHEDULES, learning_rate

        trained = int(self.steps)
        steps = max(trained, 2 * self.options.warmup_steps)  # drawn
        schedules = {
            self.say("{name} (chosen)", name=name)
            if name == self.options.schedule
            else name: learning_rate(dataclasses.replace(self.options, schedule=name), trained)
            for name in SCHEDULES
        }
        scale = self.options.learning_rate_scale
        return plots.schedule(path, schedules, steps, scale, self.say)


def use_fonts_for(*tokens: str, language: str = "en") -> None:
    """Makes pictures show the letters of tokens, and of texts; logs those that no font has."""
    from nmt.results import figures

    shown = texts.CHINESE.values() if language == "zh" else ()
    if unknown := figures.use_fonts_for(*tokens, *shown):
        log.warning(f"No installed font has {unknown}; install one (for Chinese: fonts-noto-cjk).")


class DrawnRun(NamedTuple):
    """A run whose curves are drawn."""

    folder: RunFolder  # of the run, which names it and holds its history
    options: Options
    steps: Callable[[], int]  # of the whole training run


class RunPictures(Pictures):
    """Draws the pictures of a run, into its plots/.

    `line` is the sentence whose attention and masks are drawn; where its translation is known,
    masks need no weights.
    """

    def __init__(
        self,
        folder: RunFolder,
        model: Model,
        tokenizer: Tokenizer,
        line: str,
        make_batches: Callable[[], Batches],
        translation: str | None = None,
        language: str = "en",
    ):
        super().__init__(folder.plots, model.options, model.steps, language)
        self.run_folder, self.model, self.tokenizer = folder, model, tokenizer
        self.line, self.make_batches, self.translation = line, make_batches, translation

    def draw_all(self) -> None:
        """Draws all PICTURES as at the end of training, and says so."""
        drawings = [(picture, choices) for picture in PICTURES for choices in picture.drawn]
        log.info(f"Drawing {plural(len(drawings), 'picture')} into {self.folder} ...")
        for picture, choices in drawings:
            self.draw(picture, **choices)

    @functools.cached_property
    def weights(self) -> Attention:
        """The Attention of `line`; pictures can show its letters from then on."""
        translate = self.model.translator(self.tokenizer, self.model.search_options)
        weights = translate.attend(self.line)
        use_fonts_for(*weights.source, *weights.target, language=self.language)
        return weights

    def masks(self, path: Path) -> Path:
        from nmt.results import plots

        if self.translation is None:
            source, target = self.weights.source, self.weights.target
        else:
            sides = self.tokenizer, self.tokenizer.target
            texts = self.line, self.translation
            source, target = (
                tokenizer.tokens(tokenizer.encode([text])[0])
                for tokenizer, text in zip(sides, texts, strict=True)
            )
            use_fonts_for(*source, *target, language=self.language)
        return plots.masks(path, source, target[:-1], predicted=target[1:], say=self.say)

    def lengths(self, path: Path) -> Path:
        from nmt.results import plots

        batches = self.make_batches()
        return plots.lengths(path, batches.counts, batches.dropped, batches.lengths, self.say)

    def curves(self, path: Path, beside: Sequence[DrawnRun]) -> Path:
        """Of this run, and of the runs `beside`."""
        from nmt.results import plots
        from nmt.training.schedules import learning_rate

        drawn = [DrawnRun(self.run_folder, self.options, lambda: int(self.steps)), *beside]
        curves = {}
        for run in drawn:
            steps = run.steps()
            # matplotlib's legend leaves labels out that begin with _
            curves[re.sub("^_", "./_", str(run.folder.path))] = plots.Curve(
                run.folder.history(), learning_rate(run.options, steps), steps / run.options.epochs
            )
        noise = {
            name: any(getattr(run.options, key) > 0 for run in drawn)
            for name, key in (("dropout", "dropout_rate"), ("label_smoothing", "label_smoothing"))
        }
        use_fonts_for(*curves, language=self.language)
        return plots.curves(path, curves, **noise, say=self.say)

    def attention(
        self, path: Path, kind: str, layer: int | None, head: int | None, mean: bool
    ) -> Path:
        """Of one of KINDS and a layer (the last): one head (1, ...), all heads, or their mean."""
        from nmt.results import plots

        layers, heads = self.weights.layers(kind), self.options.num_heads
        for name, number, most in (("layer", layer, layers), ("head", head, heads)):
            if number is not None and not 1 <= number <= most:
                raise UserError(
                    f"--{name} {number}: {kind} attention has {name}s 1 to {most}; name one of them"
                )
        return plots.attention_of(path, self.weights, kind, layer, head, mean, self.say)


@dataclass(frozen=True)
class Picture:
    """What the program knows of a picture."""

    name: str
    draw: Callable[..., Path]  # a method of RunPictures; of Pictures, if it needs no run
    flags: dict[str, Any] = field(default_factory=dict)  # their defaults, by name
    needs_run: bool = True
    needs_weights: bool = True
    needs_sentence: bool = False
    drawn: tuple[dict[str, Any], ...] = ({},)  # flags of each drawing of training's end

    def file_name(self, choices: dict[str, Any], language: str = "en") -> str:
        """Returns the name of the file that is drawn if none is given."""
        name = self.name
        for choice, value in choices.items():
            if choice not in ("beside", "ranking") and value != self.flags[choice]:
                text = value if isinstance(value, str) else f"{choice}{value}"
                name += "-mean" if value is True else f"-{text}"
        return f"{name}.png" if language == "en" else f"{name}-{language}.png"


PICTURES = (  # in the order drawn
    Picture(
        "positional-encoding", Pictures.positional_encoding,
        flags=dict(positions=50, depth=None, position=None), needs_run=False,
    ),
    Picture("masks", RunPictures.masks, needs_weights=False, needs_sentence=True),
    Picture("scaling", Pictures.scaling, needs_run=False),
    Picture("schedule", Pictures.schedule, needs_run=False),
    Picture("sweep", Pictures.sweep, flags=dict(ranking=None), needs_run=False, drawn=()),
    Picture("lengths", RunPictures.lengths),
    Picture("curves", RunPictures.curves, flags=dict(beside=())),
    Picture(
        "attention", RunPictures.attention,
        flags=dict(kind="cross", layer=None, head=None, mean=False), needs_sentence=True,
        drawn=tuple(dict(kind=kind) for kind in ("cross", "encoder", "decoder")),
    ),
)  # fmt: skip
BY_NAME = {picture.name: picture for picture in PICTURES}
