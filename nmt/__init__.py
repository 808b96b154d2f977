"""The packages behind the three modules. Each may import only those before it:

text      lines: spelling, sentences, protected spans, glossary, tokenizer
corpus    data sets: files, formats, checks, the pair store, batches
documents HTML, subtitles, tables and other files, whose text alone is translated
network   faster forms of the layers, the loss and the forward pass
decoding  search, translator
exports   models for other programs
training  optimizer, devices, workers, checkpoints, averaging
results   scores, evaluation, pictures, explorer
runs      run folder, parameters, listing, loading, parent
serving   the server: APIs, queue, streaming, its page
cli       command line, commands, start-up, exit codes

messages.py, machine.py, output.py and seeds.py serve all of them.
"""

VERSION = "3.0.0"


class UserError(Exception):
    """A mistake that the user can fix: shown as one line (what, where, how to fix)."""

    exit_code = 2


class CheckFailed(Exception):  # noqa: N818  # not an error
    """A check that the user asked for has found something."""

    exit_code = 3


class WorkersLost(Exception):  # noqa: N818  # the machine's, not the program's error
    """The processes that worked for this one have ended; the same command tries again."""

    exit_code = 75  # sysexits.h, EX_TEMPFAIL


class Interrupted(Exception):  # noqa: N818  # not an error
    """A signal ended the training run, which is saved.

    Args:
      number: of the signal.
    """

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


class Terminated(BaseException):  # like KeyboardInterrupt, no error
    """A signal to end, SIGTERM or SIGHUP, where nothing needs to be saved.

    Args:
      number: of the signal.
    """

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number
