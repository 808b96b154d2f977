"""A line for each request: what was asked of which route and by whom, never any of its text."""

import dataclasses
import logging
import re
import uuid
from collections.abc import Mapping

from starlette.types import Scope

from nmt.messages import log

HEADER = "X-Request-ID"
SANE_ID = re.compile(r"[A-Za-z0-9._:+/=@-]{1,128}")
PROBES = ("/health", "/live", "/ready", "/metrics")  # asked every few seconds
access_log = log.getChild("access")


@dataclasses.dataclass
class Access:
    """What is logged of a request."""

    request: str  # its id
    method: str
    route: str = ""  # the template: /download_file/{key}/{name}
    status: int = 0
    milliseconds: float = 0.0
    characters: int = 0  # of the texts to translate
    key: str | None = None  # its name; None without one

    def log(self, seconds: float) -> None:
        """Logs the request; one of a monitor that is answered well, at the level "debug" alone."""
        self.milliseconds = round(1000 * seconds, 1)
        is_probe = self.route in PROBES and self.status < 400
        level = logging.DEBUG if is_probe else logging.INFO
        key = f", key {self.key}" if self.key else ""
        access_log.log(
            level,
            f"{self.method} {self.route} {self.status}: {self.milliseconds} ms, "
            f"{self.characters} characters{key}, request {self.request}",
            extra={"fields": dataclasses.asdict(self)},
        )


def new_access(method: str, headers: Mapping[str, str]) -> Access:
    """Returns the Access of a request, with the id that its client or a proxy gave it, if any."""
    given = headers.get(HEADER, "")
    return Access(given if SANE_ID.fullmatch(given) else uuid.uuid4().hex, method[:20])


def access_of(scope: Scope) -> Access:
    """Returns the Access of a request."""
    access: Access = scope["access"]
    return access
