"""What carries the three modules, in five rooms; each may use the ones before it.

text      corpora, vocabulary, batches          decoding  search, translator, export
training  optimizer, devices, checkpoints       results   scores, evaluation, pictures
program   command line, run folder, commands
"""


class UserError(Exception):
    """A mistake that the user can fix: shown as one line (what, where, how to fix), exit code 2."""


class Interrupted(Exception):  # noqa: N818  # not an error
    """A signal ended the training run, which is saved.

    Args:
      number: of the signal.
    """

    def __init__(self, number):
        super().__init__(number)
        self.number = number
