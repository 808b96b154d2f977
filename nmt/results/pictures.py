"""The pictures of a run: what each is drawn from. See plots.py for the drawing."""

import functools

from nmt import UserError
from nmt.decoding.translator import KINDS
from nmt.messages import log
from nmt.results import evaluation, plots
from nmt.training.optimizer import learning_rate


class Pictures:
    """Draws pictures into a run's plots/: a method for each, which returns the path of the file.

    Args:
      run: the run_folder.Run.
      model: a Training, or a loading.TrainedModel.
      tokenizer: its Tokenizer.
      line: the sentence whose attention and masks are drawn.
      make_batches: a function that returns the run's batches.Batches.
    """

    def __init__(self, run, model, tokenizer, line, make_batches):
        self.run, self.model, self.tokenizer = run, model, tokenizer
        self.line, self.make_batches = line, make_batches

    def draw(self, what, **choices):
        """Draws one of command_line.PICTURES."""
        return getattr(self, what.replace("-", "_"))(self.run.plots / f"{what}.png", **choices)

    @functools.cached_property
    def weights(self):
        """The Attention of `line`; pictures can show its letters from then on."""
        weights = evaluation.translator(self.model, self.tokenizer).attend(self.line)
        if unknown := plots.use_fonts_for(*weights.source, *weights.target):
            log.warning(
                f"No installed font has {unknown}; install one (for Chinese: fonts-noto-cjk)."
            )
        return weights

    def positional_encoding(self, path, positions=50, depth=None, position=None):
        """Of `positions` in `depth` dimensions (d_model); `position` is compared with the others.

        Raises:
          UserError: there is no such position.
        """
        if position is not None and not 0 <= position < positions:
            raise UserError(
                f"--position {position}: positions 0 to {positions - 1} are drawn; name one of "
                "them, or raise --positions"
            )
        depth = depth or self.model.options["d_model"]
        return plots.positional_encoding(path, positions, depth, position)

    def masks(self, path):
        return plots.masks(path, self.weights.source, self.weights.target[:-1])

    def scaling(self, path):
        return plots.scaling(path)

    def schedule(self, path):
        options = self.model.options
        steps = max(int(self.model.steps), 2 * options["warmup_steps"])
        schedules = {
            f"{name} (this run)" if name == options["schedule"] else name: learning_rate(
                {**options, "schedule": name}, steps
            )
            for name in ("inverse-sqrt", "cosine", "constant")
        }
        return plots.schedule(path, schedules, steps)

    def lengths(self, path):
        batches = self.make_batches()
        return plots.lengths(path, batches.counts, batches.dropped, batches.lengths)

    def curves(self, path, beside=()):
        """Of this run, and of the runs `beside`."""
        return plots.curves(path, {run.path.name: run.history() for run in (self.run, *beside)})

    def attention(self, path, kind="cross", layer=None, head=None, mean=False):
        """Of one of KINDS and one layer (the last): one head (1, 2, ...), all heads, or their mean.

        Raises:
          UserError: the run has no such layer or head.
        """
        options = self.model.options
        for name, number in (("layer", layer), ("head", head)):
            most = options[f"num_{name}s"]
            if number is not None and not 1 <= number <= most:
                raise UserError(
                    f"--{name} {number}: the run has {name}s 1 to {most}; name one of them"
                )
        layer = layer or options["num_layers"]
        heads, queries, keys = self.weights.select(kind, layer)
        names = [f"Head {number}" for number in range(1, len(heads) + 1)]
        if mean:
            heads, names = heads.mean(axis=0, keepdims=True), [f"Mean of {len(heads)} heads"]
        elif head:
            heads, names = heads[head - 1 : head], names[head - 1 : head]
        if kind != "cross":
            path = path.with_stem(f"{path.stem}-{kind}")
        title = f"{KINDS[kind][1]}; layer {layer}"
        return plots.attention(path, heads, names, keys, queries, title)
