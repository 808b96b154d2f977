"""How the program starts: what libraries read of the environment, and a quiet terminal.

Only run_demo.py as a program calls these, before it imports TensorFlow. Importing the project's
modules changes nothing in the program that imports them.
"""

import contextlib
import os
import re
import signal
import sys
import tempfile

# "I0000 00:00:1795 27932 port.cc:153] oneDNN custom operations are on", and that no GPU was found.
NOISE = re.compile(
    rb"WARNING: All log messages before absl::InitializeLog"
    rb"|[IWE]\d{4} .*\b(port|cudart_stub|cuda_platform|cpu_feature_guard)\.cc:"
    rb"|To enable the following instructions:"
)
SEARCHING = ("translate", "score", "evaluate")  # commands whose time is that of a growing cache


def environment(arguments):
    """Sets what TensorFlow and Keras read of the environment as they are imported.

    Args:
      arguments: the program's; the first one may name a command.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `main`: Ctrl-C ends it without a traceback
    os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever ~/.keras/keras.json says
    os.environ.pop("TF_USE_LEGACY_KERAS", None)  # Keras 2 is not what this program is written for
    os.environ["MPLBACKEND"] = "agg"  # matplotlib refuses a name that it does not know
    # TensorFlow's start-up notes; errors remain, except among workers, which all report a lost one.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3" if os.environ.get("TF_CONFIG") else "2")
    # oneDNN's kernels are the faster ones in training, above all in bfloat16; but it makes new ones
    # for each new shape, and a cache that grows has a new shape at each step: without oneDNN,
    # translating is twice as fast.
    searching = arguments[:1] and arguments[0] in SEARCHING
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0" if searching else "1")


@contextlib.contextmanager
def quiet():
    """Holds back what is written to stderr, also by C++, and then passes on what is not NOISE.

    Yields a list, which gets the lines that were dropped.
    """
    dropped = []
    if sys.stderr is None:  # closed by who started the program
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # open until the end
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield dropped
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            held.seek(0)
            for line in held:
                if NOISE.match(line):
                    dropped.append(line)
                else:
                    os.write(2, line)
