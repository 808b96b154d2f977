"""Keeps TensorFlow's notes at start-up from the terminal; all else said then comes through."""

import contextlib
import os
import re
import sys
import tempfile

# "I0000 00:00:1795 27932 port.cc:153] oneDNN custom operations are on", and that no GPU was found.
NOISE = re.compile(
    rb"WARNING: All log messages before absl::InitializeLog"
    rb"|[IWE]\d{4} .*\b(port|cudart_stub|cuda_platform|cpu_feature_guard)\.cc:"
    rb"|To enable the following instructions:"
)


@contextlib.contextmanager
def startup():
    """Holds back what is written to stderr, also by C++, and then passes on what is not NOISE.

    Yields a list, which gets the lines that were dropped.
    """
    dropped = []
    if sys.stderr is None:  # closed by who started the program; this takes its place, number 2
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the end
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
