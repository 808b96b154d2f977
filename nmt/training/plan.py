"""What a training run is to do: how many optimizer steps, and how they are divided into epochs.

An epoch ends with a checkpoint and a validation. It is a pass over the training pairs, or, with
--validate-every N, N steps: then passes follow each other without a break, wherever epochs end.
"""

from typing import NamedTuple

from nmt.messages import plural
from nmt.options import Options


class Progress(NamedTuple):
    """How far a training run has come."""

    step: int  # optimizer steps so far
    epoch: int  # finished epochs
    position: int  # finished batches of the current epoch


class Plan(NamedTuple):
    """The course of a training run."""

    per_pass: int  # batches of a pass over the training pairs
    accumulate: int  # batches per step
    passes: int
    max_steps: int  # 0: as many as the passes have
    validate_every: int  # steps of an epoch; 0: those of a pass

    @classmethod
    def of(cls, options: Options, per_pass: int) -> "Plan":
        """Returns the Plan of a run with these options, whose passes have so many batches."""
        return cls(
            per_pass, options.accumulate, options.epochs, options.max_steps, options.validate_every
        )

    @property
    def counts_steps(self) -> bool:
        """Whether progress is counted in steps, not in passes."""
        return bool(self.max_steps or self.validate_every)

    @property
    def steps_per_pass(self) -> int:
        """The optimizer steps of a pass that is an epoch; an incomplete one ends it."""
        return -(-self.per_pass // self.accumulate)

    def total_steps(self, progress: Progress) -> int:
        """Returns the optimizer steps of the whole run, those so far included."""
        if self.max_steps:
            return self.max_steps
        if self.validate_every:
            return -(-self.passes * self.per_pass // self.accumulate)
        steps_of_epoch = -(-progress.position // self.accumulate)  # that are done
        left = (self.passes - progress.epoch) * self.steps_per_pass - steps_of_epoch
        return progress.step + left

    def is_done(self, progress: Progress) -> bool:
        """Returns whether all steps are done."""
        if self.counts_steps:
            return progress.step >= self.total_steps(progress)
        return progress.epoch >= self.passes

    def end_of_epoch(self, progress: Progress) -> int:
        """Returns the number of the step that ends the current epoch."""
        end = progress.step + self.steps_per_pass - -(-progress.position // self.accumulate)
        if self.validate_every:
            end = (progress.step // self.validate_every + 1) * self.validate_every
        return min(end, self.max_steps or end, self.total_steps(progress))

    def batches_of_epoch(self, progress: Progress) -> int:
        """Returns the number of batches of the current epoch, those that are done included."""
        left = (self.end_of_epoch(progress) - progress.step) * self.accumulate
        if self.validate_every:
            return progress.position + left
        return min(self.per_pass, progress.position + left)  # the last step may be incomplete

    def epochs_left(self, progress: Progress) -> int:
        """Returns the number of epochs that are not finished."""
        if not self.counts_steps:
            return self.passes - progress.epoch
        done = 0 if self.validate_every else -(-progress.position // self.accumulate)
        steps = max(self.total_steps(progress) - progress.step + done, 0)
        return -(-steps // (self.validate_every or self.steps_per_pass))

    def first_batch(self, progress: Progress) -> tuple[int, int]:
        """Returns the pass, from 0, and the number of its batches that are done."""
        if self.validate_every:
            return divmod(progress.step * self.accumulate, self.per_pass)
        return progress.epoch, progress.position

    def passes_done(self, progress: Progress) -> float:
        """Returns how many passes over the training pairs are done, with their fraction."""
        if self.max_steps and not self.validate_every:  # the last epoch may end within a pass
            return progress.step / self.steps_per_pass
        number, batches = self.first_batch(progress)
        return number + batches / self.per_pass

    def leaves_out(self, progress: Progress) -> bool:
        """Returns whether a run that goes on begins a new pass, though the last was not finished.

        It ended with its --max-steps, which are more now.
        """
        is_whole = progress.step % self.steps_per_pass == 0 or progress.position > 0
        return bool(self.max_steps and not self.validate_every and not is_whole)

    def title(self, progress: Progress) -> str:
        """Returns as text where the current epoch ends: "Epoch 3/7", or "Step 3000/7000"."""
        if self.counts_steps:
            return self.title_of(self.end_of_epoch(progress), progress)
        return f"Epoch {progress.epoch + 1}/{self.passes}"

    def finished_title(self, progress: Progress) -> str:
        """Returns as text which epoch has just ended."""
        if self.counts_steps:
            return self.title_of(progress.step, progress)
        return f"Epoch {progress.epoch}/{self.passes}"

    def title_of(self, step: int, progress: Progress) -> str:
        """Returns the number of a step among all as text."""
        return f"Step {step}/{self.total_steps(progress)}"

    def left(self, progress: Progress) -> str:
        """Returns as text what is left to do: "2 epochs", or "500 steps"."""
        if self.counts_steps:
            return plural(self.total_steps(progress) - progress.step, "step")
        return plural(self.epochs_left(progress), "epoch")
