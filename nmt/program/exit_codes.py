"""From a command line to an exit code: runs a command and turns every error into one line.

0  done                   75  a worker of several was lost; start them again
1  an error of the program 128 + n  ended by signal n
2  the user can fix it     141  the reader of stdout has ended
"""

import contextlib
import errno
import os
import sys

import tensorflow as tf

from nmt import Interrupted, UserError, messages
from nmt.messages import log, reason
from nmt.program import command_line, commands
from nmt.training import cluster

FIXES = {  # for errors of the operating system
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make it writable"),
    errno.ENAMETOOLONG: "choose a shorter name",
}


def parser(train):
    """Returns the parser of the command line, which knows the function of each command."""
    names = (name for name in command_line.COMMANDS if name != "train")
    return command_line.parser({"train": train} | {name: getattr(commands, name) for name in names})


def run(arguments, train):
    """Runs one command. Returns the exit code of the process.

    Args:
      arguments: of the program; without a command, they are those of `train`.
      train: the function that trains.
    """
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["train", *arguments]
    messages.show()
    resume = "the same command resumes it"
    try:
        if sys.stdout is None:
            raise UserError("stdout is closed; redirect it, for example to a file: > FILE")
        sys.stdout.reconfigure(encoding="utf-8")  # translations may hold any script
        args = parser(train).parse_args(arguments)
        args.given = arguments
        try:
            args.call(args)
        finally:
            if getattr(args, "resume", None):
                resume = f"to resume it: {args.resume}"
        sys.stdout.flush()
    except SystemExit as end:  # of --help
        return end.code
    except UserError as error:
        log.error(f"run_demo.py: {error}")
        return 2
    except tf.errors.ResourceExhaustedError:
        log.error(
            "run_demo.py: out of memory; lower --batch-size, --max-length or the model's sizes"
        )
        return 2
    except cluster.LOST as error:
        if cluster.configured().alone:
            raise
        log.error(
            f"run_demo.py: a worker of {cluster.VARIABLE} was lost ({reason(error)}); start all of "
            "them again with the same command, which resumes from the newest checkpoint"
        )
        return 75  # sysexits.h, EX_TEMPFAIL: try again
    except Interrupted as end:
        log.error(f"run_demo.py: interrupted; the run is saved; {resume}")
        return 128 + end.number
    except KeyboardInterrupt:
        more = f"; {resume}" if arguments[0] == "train" else ""
        log.error(f"run_demo.py: interrupted{more}")
        return 130
    except OSError as error:
        return unwritten(error)
    return 0


def unwritten(error):
    """Reports an OSError, which is of stdout unless it names a file. Returns the exit code."""
    if not error.filename:  # buffered output must not fail again when Python ends
        with contextlib.suppress(OSError):  # a host program's stdout may not be a file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # the reader closed the pipe, as `head` does
        return 141
    fix = FIXES.get(error.errno, "check that path")
    log.error(f"run_demo.py: {error.filename or 'stdout'}: {error.strerror}; {fix}")
    return 2
