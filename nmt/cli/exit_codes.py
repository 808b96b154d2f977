"""From a command line to an exit code: runs a command and turns every error into one line.

0  done                    75  a worker of several was lost; start them again
1  an error of the program 128 + n  ended by signal n
2  the user can fix it     141  the reader of stdout has ended
3  translate --strict: a translation lacks numbers, placeholders, URLs or tags, or has others
"""

import contextlib
import errno
import os
import signal
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from nmt import (
    CheckFailed,
    FileChangedError,
    Interrupted,
    Terminated,
    UserError,
    WorkersLost,
    messages,
)
from nmt.messages import log
from nmt.program import PROGRAM

FIXES = {  # for errors of the operating system
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make it writable"),
    errno.ENAMETOOLONG: "choose a shorter name",
}


def exit_code(command: Callable[[], None], args: Namespace) -> int:
    """Runs a command. Returns the exit code of the process.

    Args:
      args: the parsed command line, or a Namespace that `command` fills.
    """
    messages.show()
    try:
        if sys.stdout is None:
            raise UserError("stdout is closed; redirect it, for example to a file: > FILE")
        if hasattr(sys.stdout, "reconfigure"):  # not where a notebook or a program replaces it
            # Translations may hold any script, and paths any bytes.
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        command()
        sys.stdout.flush()
    except SystemExit as end:  # of --help
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        return int(end.code or 0)
    except FileChangedError as error:
        return report(UserError(f"{error}; {resume(error)}") if is_training(args) else error)
    except (UserError, CheckFailed, WorkersLost) as error:
        return report(error)
    except Interrupted as end:
        log.error(f"{PROGRAM}: interrupted; the run is saved; {resume(end)}")
        return 128 + end.number
    except (KeyboardInterrupt, Terminated) as end:
        advice = f"; {resume(end)}" if is_training(args) else ""
        log.error(f"{PROGRAM}: interrupted{advice}")
        return 128 + getattr(end, "number", signal.SIGINT)
    except OSError as error:
        return report_os_error(error)
    except ModuleNotFoundError as error:
        return report_missing_module(error)
    except Exception as error:
        return report_tensorflow_error(error, args)
    return 0


def report(error: UserError | CheckFailed | WorkersLost) -> int:
    """Reports an exception of this project. Returns its exit code."""
    log.error(f"{PROGRAM}: {error}")
    log.debug("where that was noticed:", exc_info=error)
    return error.exit_code


def is_training(args: Namespace) -> bool:
    """Returns whether the command is `train`, as far as it is parsed."""
    return getattr(args, "command", "train") == "train"


def resume(error: BaseException) -> str:
    """Returns as text how to resume the training run that an exception has ended.

    Its note is the command, once the run folder is known; see runs/session.py.
    """
    command = getattr(error, "__notes__", [""])[-1]
    return f"to resume it: {command}" if command else "the same command resumes it"


def report_missing_module(error: ModuleNotFoundError) -> int:
    """Reports a ModuleNotFoundError: most often, the virtual environment is not active."""
    if (error.name or "nmt").partition(".")[0] == "nmt":
        raise error
    log.error(
        f"{PROGRAM}: {sys.executable} has no module {error.name}; activate the "
        "virtual environment, or make one as README.md says"
    )
    return 2


def report_tensorflow_error(error: Exception, args: Namespace) -> int:
    """Reports an error of TensorFlow that the user can fix; raises all others again."""
    if "tensorflow" not in sys.modules:  # importing it takes seconds
        raise error
    from nmt.cli import tensorflow_errors

    known_error = tensorflow_errors.as_ours(error, is_training(args), resume(error))
    if known_error is None:
        raise error
    return report(known_error)


def report_os_error(error: OSError) -> int:
    """Reports an OSError. Returns the exit code.

    One that names no file is of stdout, or of a file that has no name: a temporary one.
    """
    place = error.filename or unnamed_place()
    if isinstance(error, BrokenPipeError):  # the reader closed the pipe, as `head` does
        return 141
    fix = unreadable_part(error) or FIXES.get(error.errno or 0, "check that path")
    log.error(f"{PROGRAM}: {place}: {error.strerror}; {fix}")
    return 2


def unreadable_part(error: OSError) -> str:
    """Returns what to do if a file or folder, or the one it is in, may not be read; else ""."""
    if not isinstance(error, PermissionError) or not error.filename:
        return ""
    path = Path(os.fsdecode(error.filename)).absolute()
    there = next(part for part in (path, *path.parents) if os.path.lexists(part))
    mode = os.R_OK | os.X_OK if there.is_dir() else os.R_OK
    return "" if os.access(there, mode) else f"make {there} readable"


def unnamed_place() -> str:
    """Returns what an OSError without a name is of."""
    try:
        sys.stdout.flush()
    except OSError:  # what it holds must not fail again when Python ends
        with contextlib.suppress(OSError):  # a host program's stdout may not be a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "stdout"
    folder = tempfile.tempdir or "the temporary folder"
    return f"stdout, or {folder} (TMPDIR names another temporary folder)"
