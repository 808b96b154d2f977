"""By which names a server on the loopback address may be called.

A page of another site can point its own name at 127.0.0.1 (DNS rebinding) and then read what the
server answers, as if it were of that site. The header Host still has the site's name.
"""

import ipaddress
import re
from collections.abc import Collection

PORT = re.compile(r":\d*$")


def is_allowed(host: str, names: Collection[str]) -> bool:
    """Returns whether a request is for this server, by its header Host.

    Args:
      host: "localhost:8765", "[::1]:8765"; "" for a client of HTTP/1.0, which sends none.
      names: that are allowed besides localhost, in lower case. An address always is: it cannot be
        pointed elsewhere.
    """
    name = PORT.sub("", host.strip().lower()).strip("[]")
    if name in ("", "localhost") or name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
