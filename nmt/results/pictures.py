"""The pictures: what each is drawn from. See plots.py for the drawing."""

import functools
import inspect
import re

from nmt import UserError, output
from nmt.decoding.attention import KINDS
from nmt.messages import log, plural
from nmt.results import architecture, figures, plots
from nmt.training.optimizer import learning_rate

MAX_ENCODING_VALUES = 10_000_000  # positions times dimensions: drawing takes a second per million
TUTORIAL_STEPS = 40_000  # of its picture of the learning rate
ALL = (  # of a run, in the order drawn at the end of training; the choices of each
    ("architecture", {}),
    ("positional-encoding", {}),
    ("masks", {}),
    ("scaling", {}),
    ("schedule", {}),
    ("lengths", {}),
    ("curves", {}),
    *(("attention", {"kind": kind}) for kind in ("cross", "encoder", "decoder")),
)


class Pictures:
    """Draws pictures: a method for each. Those here need no trained run.

    Args:
      folder: where they go.
      options: values of params.table() by name.
      steps: of training, for the learning rate.
    """

    def __init__(self, folder, options, steps=TUTORIAL_STEPS):
        self.folder, self.options, self.steps = folder, options, steps

    def draw(self, what, to=None, **choices):
        """Draws one of command_flags.PICTURES. Returns the path of the file.

        Args:
          what: its name.
          to: the path; None for a .png in the folder, whose name says what was chosen.
          choices: arguments of its method.
        """
        method = getattr(self, what.replace("-", "_"))
        if to:
            with output.new(to) as unfinished:
                method(unfinished, **choices)
            return to
        name = what
        for choice, value in choices.items():
            if choice != "beside" and value != inspect.signature(method).parameters[choice].default:
                text = value if isinstance(value, str) else f"{choice}{value}"
                name += "-mean" if value is True else f"-{text}"
        return method(self.folder / f"{name}.png", **choices)

    def positional_encoding(self, path, positions=50, depth=None, position=None):
        """Of `positions` in `depth` dimensions (d_model); `position` is compared with the others.

        Raises:
          UserError: there is no such position, or there are too many.
        """
        if position is not None and not 0 <= position < positions:
            raise UserError(
                f"--position {position}: positions 0 to {positions - 1} are drawn; name one of "
                "them, or raise --positions"
            )
        depth = depth or self.options["d_model"]
        if positions * depth > MAX_ENCODING_VALUES:
            raise UserError(
                f"--positions {positions} and --depth {depth}: {positions * depth:,} values; at "
                f"most {MAX_ENCODING_VALUES:,} are drawn; lower one of them"
            )
        return plots.positional_encoding(path, positions, depth, position)

    def scaling(self, path):
        return plots.scaling(path)

    def schedule(self, path):
        trained = int(self.steps)
        steps = max(trained, 2 * self.options["warmup_steps"])  # drawn
        schedules = {
            f"{name} (chosen)" if name == self.options["schedule"] else name: learning_rate(
                {**self.options, "schedule": name}, trained
            )
            for name in ("inverse-sqrt", "cosine", "constant")
        }
        return plots.schedule(path, schedules, steps)


def use_fonts_for(*tokens):
    """Makes pictures show the letters of tokens (strings); logs those that no font has."""
    if unknown := figures.use_fonts_for(*tokens):
        log.warning(f"No installed font has {unknown}; install one (for Chinese: fonts-noto-cjk).")


class RunPictures(Pictures):
    """Draws the pictures of a run, into its plots/.

    Args:
      run: the folder.Run.
      model: the Model of the run.
      tokenizer: the Tokenizer of the run.
      line: the sentence whose attention and masks are drawn.
      make_batches: a function that returns the run's batches.Batches.
      translation: of the line, where it is known: masks then need no weights.
    """

    def __init__(self, run, model, tokenizer, line, make_batches, translation=None):
        super().__init__(run.plots, model.options, model.steps)
        self.run, self.model, self.tokenizer = run, model, tokenizer
        self.line, self.make_batches, self.translation = line, make_batches, translation

    def draw_all(self):
        """Draws ALL of them, and says so."""
        log.info(f"Drawing {plural(len(ALL), 'picture')} into {self.folder} ...")
        for what, choices in ALL:
            self.draw(what, **choices)

    @functools.cached_property
    def weights(self):
        """The Attention of `line`; pictures can show its letters from then on."""
        translate = self.model.translator(self.tokenizer, **self.model.search_options)
        weights = translate.attend(self.line)
        use_fonts_for(*weights.source, *weights.target)
        return weights

    def architecture(self, path):
        return architecture.draw(path, self.model.transformer)

    def masks(self, path):
        if self.translation is None:
            source, target = self.weights.source, self.weights.target
        else:
            ids = self.tokenizer.encode([self.line, self.translation])
            source, target = map(self.tokenizer.tokens, ids)
            use_fonts_for(*source, *target)
        return plots.masks(path, source, target[:-1], not self.options["non_autoregressive"])

    def lengths(self, path):
        batches = self.make_batches()
        return plots.lengths(path, batches.counts, batches.dropped, batches.lengths)

    def curves(self, path, beside=()):
        """Of this run, and of the runs `beside`."""
        histories = {
            # matplotlib's legend leaves labels out that begin with _
            re.sub("^_", "./_", str(run.path)): run.history()
            for run in (self.run, *beside)
        }
        figures.use_fonts_for(*histories)
        return plots.curves(path, histories)

    def attention(self, path, kind="cross", layer=None, head=None, mean=False):
        """Of one of KINDS and one layer (the last): one head (1, 2, ...), all heads, or their mean.

        Raises:
          UserError: the run has no such layer or head.
        """
        for name, number in (("layer", layer), ("head", head)):
            most = self.options[f"num_{name}s"]
            if number is not None and not 1 <= number <= most:
                raise UserError(
                    f"--{name} {number}: the run has {name}s 1 to {most}; name one of them"
                )
        layer = layer or self.options["num_layers"]
        heads, queries, keys = self.weights.select(kind, layer)
        names = [f"Head {number}" for number in range(1, len(heads) + 1)]
        if mean:
            heads, names = heads.mean(axis=0, keepdims=True), [f"Mean of {len(heads)} heads"]
        elif head:
            heads, names = heads[head - 1 : head], names[head - 1 : head]
        title = f"{KINDS[kind].title}; layer {layer}"
        return plots.attention(path, heads, names, keys, queries, title)
