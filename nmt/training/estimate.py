"""How long a training run will take, estimated from what its parts have taken so far."""

import time

from nmt.options import Options

MEASURED_BATCHES = 60  # left out before the time is estimated, then as many that are measured
PICTURE_SECONDS = 10  # for all pictures of a run; measured on two cores
TRANSLATION_SHARE = 0.6  # of the seconds of a validation, per hypothesis of the search; measured


def duration(seconds: float) -> str:
    """Returns a time as text: whole seconds, tens of seconds or minutes."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    minutes, seconds_left = divmod(round(seconds, -1), 60)
    return f"{minutes:.0f} min {seconds_left:02.0f} s"


class BatchTimer:
    """Times the batches of an epoch; if they are many, without the first, which trace functions.

    When it starts, `first` of them are done, with so many `tokens`.
    """

    def __init__(self, first: int = 0, tokens: float = 0.0):
        self.first, self.tokens, self.started = first, tokens, time.perf_counter()
        self._warm = False  # the first batches are over
        self._begin, self._begin_time = first, self.started  # of what is measured

    def note(self, number: int) -> None:
        """Takes note that batches 1 ... `number` of the epoch are done."""
        if not self._warm and number - self.first >= MEASURED_BATCHES:
            self._warm, self._begin, self._begin_time = True, number, time.perf_counter()

    def is_measured(self, number: int) -> bool:
        """Returns whether enough batches are done for an estimate."""
        return self._warm and number - self._begin >= MEASURED_BATCHES

    def seconds_per_batch(self, number: int) -> float:
        """Returns the mean time of a batch, now that batches 1 ... `number` are done."""
        return (time.perf_counter() - self._begin_time) / max(number - self._begin, 1)

    def per_second(self, tokens: float) -> float:
        """Returns the speed since the timer started, now that so many tokens are done."""
        return (tokens - self.tokens) / (time.perf_counter() - self.started)


class RunTimes:
    """The seconds that the parts of a run have taken, and those that its rest will take.

    Those of a validation are the newest, once traced; 0 before any is measured.
    """

    def __init__(self) -> None:
        self.batches, self.batch_seconds = 0, 0.0
        self.validation_seconds = self.translation_seconds = 0.0
        self.picture_seconds: float = PICTURE_SECONDS
        self.estimated = False
        self.begin_epoch()

    def begin_epoch(self, seconds_before: float = 0.0) -> None:
        """Times the epoch from here on, after `seconds_before` in interrupted processes."""
        self._epoch_started = time.perf_counter() - seconds_before

    @property
    def epoch_seconds(self) -> float:
        """The seconds of this epoch, validation included, and before interruptions, too."""
        return time.perf_counter() - self._epoch_started

    def time_left(self, options: Options, epochs: int, test_share: float) -> str:
        """Returns as text what `seconds_left` says; empty before any epoch is measured."""
        if not self.batch_seconds:
            return ""
        return f"; about {duration(self.seconds_left(options, epochs, test_share))} left"

    def seconds_left(self, options: Options, epochs: int, test_share: float) -> float:
        """Returns how long the rest of a run will take.

        `test_share` is lines of the test split per line of the validation split.
        """
        loss = self.validation_seconds
        validation = loss + self.translation_seconds
        hypothesis = self.translation_seconds or TRANSLATION_SHARE * loss
        training = epochs * (self.batches * self.batch_seconds + validation)
        averaging = (min(options.average, options.epochs) + 1) * validation
        scoring = (loss + options.beam * hypothesis) * test_share
        return training + averaging + scoring + self.picture_seconds
