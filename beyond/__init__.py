"""What the tutorial does not have, one capability a file; run_demo.py calls them."""


class UserError(Exception):
    """What the user can mend: shown as one line (what, where, how to mend), exit code 2."""
