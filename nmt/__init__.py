"""The packages behind the three modules. Each may import only those before it, and nothing of the
core, which ends with runs, imports an application (documents, imports, serving):

text      lines: spelling, sentences, protected spans, glossary, tokenizer
corpus    data sets: files, formats, checks, the pair store, batches
network   faster forms of the layers, the loss and the forward pass
decoding  search, translator
exports   models for other programs
training  the fast step, epochs, optimizer, devices, workers, checkpoints, averaging
results   scores, evaluation, pictures, explorer
runs      run folder, parameters, listing, loading, parent; the session of a training; the API
documents HTML, subtitles, tables and other files, whose text alone is translated
imports   models that others have trained
serving   the server: APIs, queue, streaming, its page
cli       command line, commands, start-up, exit codes

checksums.py, keywords.py, machine.py, messages.py, neighbors.py, options.py, output.py, program.py,
progress.py, reading.py, resumable_output.py and seeds.py serve all of them.

    from nmt import UserError, __version__, evaluate, load_translator, train, translate_document

These names are public: docs/api.md describes them, and they stay as they are within 5.x. Importing
this package takes no time and changes nothing in the process; TensorFlow comes with a function.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nmt.documents import translate_document
    from nmt.runs.api import evaluate, train
    from nmt.runs.loading import load_translator

__all__ = [
    "UserError", "__version__", "evaluate", "load_translator", "train", "translate_document",
]  # fmt: skip
__version__ = "5.0.0"

MODULES = {  # of public functions, imported when one of them is used
    "evaluate": "nmt.runs.api",
    "load_translator": "nmt.runs.loading",
    "train": "nmt.runs.api",
    "translate_document": "nmt.documents",
}


def __getattr__(name: str) -> Any:
    """Returns a public function. TensorFlow, which it may import, writes nothing meanwhile."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nmt import messages, neighbors

    neighbors.check_names("transformer_model")
    with messages.quiet():
        module = importlib.import_module(MODULES[name])
    return getattr(module, name)


class UserError(Exception):
    """A mistake that the user can fix: shown as one line (what, where, how to fix)."""

    exit_code = 2


class FileChangedError(UserError):
    """A file was moved or changed while the program ran; exit_codes.py adds how to resume."""

    def __init__(self, change: str):
        super().__init__(
            f"a file was moved or changed while the program ran ({change}); restore it"
        )


class CheckFailed(Exception):  # noqa: N818  # not an error
    """A check that the user asked for has found something."""

    exit_code = 3


class WorkersLost(Exception):  # noqa: N818  # the machine's, not the program's error
    """The processes that worked for this one have ended; the same command tries again."""

    exit_code = 75  # sysexits.h, EX_TEMPFAIL


class Interrupted(Exception):  # noqa: N818  # not an error
    """A signal, whose number it holds, ended the training run, which is saved."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


class Terminated(BaseException):  # like KeyboardInterrupt, no error
    """A signal to end, SIGTERM or SIGHUP, where nothing needs to be saved."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number
