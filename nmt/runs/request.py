"""What is asked of a training run: by the command line, by nmt.train, by a file of --config."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from nmt import UserError
from nmt.neighbors import params
from nmt.options import Options, error_in_row

MAIN_PRESET = "ted"  # where no corpus is named, or this one


@dataclasses.dataclass(frozen=True)
class TrainingRequest:
    """All that is asked of a training run.

    Paths are those of the caller; a value that is empty or None was not asked for.
    """

    run: str | None = None  # folder; runs/<corpus> if it is not named
    dataset: str | None = None  # a built-in corpus, a TFDS data set, or a file of pairs
    train: tuple[str, ...] = ()  # files, of which each may end in :weight
    valid: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # codes, of the files
    columns: tuple[str, ...] = ()  # of a table: names or numbers
    sheet: str | None = None  # of a workbook
    header: bool = True  # whether the first line of a table may name its columns
    reverse: bool = False  # from the second language into the first
    preset: str | None = None
    parent: str | None = None  # the folder of the run to begin with
    plots: bool = True  # draw pictures at the end
    plain: bool = False  # the story's network and step
    eager: bool = False  # without tf.function
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # by names of Options
    prints: bool = True  # scores and samples on stdout
    handles_signals: bool = True  # while epochs are trained
    on_epoch: Callable[[dict[str, Any]], object] | None = None  # gets the row of each validation
    command: tuple[str, ...] = ()  # the words that asked, if they were typed

    def __post_init__(self) -> None:
        """Raises a UserError if a value is not one of params.py."""
        rows = {row.name: row for row in params.table()}
        for name, value in self.parameters.items():
            if wrong := error_in_row(rows[name], value):
                raise UserError(wrong)
        typed = {name: rows[name].type(value) for name, value in self.parameters.items()}
        object.__setattr__(self, "parameters", typed)  # params.json holds no numbers of NumPy
        if self.preset not in (None, *params.PRESETS):
            raise UserError(f"preset {self.preset!r} is not one of {', '.join(params.PRESETS)}")

    @property
    def given(self) -> dict[str, Any]:
        """The values that are asked for, by the names of Options."""
        named = {} if self.dataset is None else {"data_path": self.dataset}
        return {**self.parameters, **named}

    @property
    def files(self) -> list[str]:
        """All files of text."""
        return [*self.train, *self.valid, *self.test]

    @property
    def preset_name(self) -> str:
        """The name of the preset that is asked for, or that suits the corpus."""
        if self.preset:
            return self.preset
        if self.dataset in params.PRESETS:
            return self.dataset
        is_main_job = self.dataset in (None, params.DATA_PATH) and not (self.train or self.parent)
        return MAIN_PRESET if is_main_job and not self.plain else "tutorial"

    def options(self, preset: str) -> Options:
        """Returns the values that are asked for, or else the preset's."""
        return Options.of(preset, self.given)
