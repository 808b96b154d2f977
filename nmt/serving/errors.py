"""What a server refuses, as an exception with its HTTP status."""


class RefusedError(Exception):
    """A request that is not answered as asked. The message is for the client.

    It may try again after `retry_after` seconds; None if that changes nothing.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None):
        super().__init__(status, message, retry_after)  # all of them, for pickle
        self.status, self.message, self.retry_after = status, message, retry_after

    def __str__(self) -> str:
        return self.message
