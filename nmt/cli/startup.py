"""How the program starts: mistakes first, environment variables, a quiet terminal, Ctrl-C.

Only run_demo.py as a program calls this, before it imports TensorFlow, which takes seconds.
Importing the project's modules changes nothing in the host program.
"""

import contextlib
import os
import signal
import sys

from nmt import Terminated, messages
from nmt.cli import command_flags, data_report, exit_codes
from nmt.runs import listing

WITHOUT_TENSORFLOW = {"runs": listing.show, "data": data_report.show}
SEARCHING = ("translate", "score", "align", "evaluate")  # tensors of many shapes


def environment(arguments):
    """Sets the environment variables that TensorFlow, Keras and matplotlib read when imported.

    Args:
      arguments: of the program; the first one may name a command.
    """
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever ~/.keras/keras.json says
    os.environ.pop("TF_USE_LEGACY_KERAS", None)  # which would choose Keras 2
    os.environ["MPLBACKEND"] = "agg"  # matplotlib fails if it does not know the name
    # Errors only; with several workers not even these, for all of them report a lost one.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3" if os.environ.get("TF_CONFIG") else "2")
    # oneDNN's kernels are faster in training, above all in bfloat16. But oneDNN prepares new ones
    # for each new shape, and a growing cache has a new shape at each step: without oneDNN,
    # translating is twice as fast.
    searching = arguments[:1] and arguments[0] in SEARCHING
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0" if searching else "1")


def needs_no_tensorflow(args):
    """Returns the function of a command that does without TensorFlow, None for all others.

    Raises:
      UserError: the run that the command needs is not there.
    """
    if args.command in WITHOUT_TENSORFLOW:
        return WITHOUT_TENSORFLOW[args.command]
    picture = getattr(args, "what", None)
    if args.command != "train" and picture not in command_flags.WITHOUT_RUN:
        weights = picture not in command_flags.WITHOUT_WEIGHTS or args.sentence is not None
        for path in (args.run, *getattr(args, "ensemble", ())):
            listing.find(path, weights)
    return None


@contextlib.contextmanager
def program(arguments):
    """Prepares the process for importing TensorFlow; Ctrl-C then ends it without a traceback.

    Ends the process if there is an answer already: help, a mistake, a list of runs.
    """
    code = exit_codes.run(arguments, needs_no_tensorflow)
    if code is not None:
        sys.exit(code)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    environment(arguments)
    with messages.quiet():
        try:
            yield
        except ModuleNotFoundError as error:
            sys.exit(exit_codes.missing(error))


def terminate(number, _frame):
    """Handles a signal to end: the first one raises Terminated, the next one ends the process."""
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)


def catch_interrupts():
    """From here on signals to end raise exceptions, which exit_codes.run reports.

    Ctrl-C raises KeyboardInterrupt, SIGTERM and SIGHUP raise Terminated; nohup's SIGHUP stays
    ignored.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, terminate)
