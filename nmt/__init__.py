"""What the tutorial does not have, one capability a file; run_demo.py calls them."""

import re


class UserError(Exception):
    """What the user can mend: shown as one line (what, where, how to mend), exit code 2."""


def reason(error):
    """Returns the first line of what an error of a library says, without TensorFlow's {{node}}."""
    return re.sub(r"^\{\{.*?\}\} *", "", str(error)).partition("\n")[0].rstrip(".:")


class Interrupted(Exception):  # noqa: N818  # no error
    """A signal ended a training, once it was saved; holds the signal's number."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number
