"""By which names a server may be called.

A page of another site can point its own name at 127.0.0.1 (DNS rebinding) and then read what the
server answers, as if it were of that site. The header Host still has the site's name.
"""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # which may be missing
    from starlette.types import Scope

PORT = re.compile(r":\d*$")
ABSOLUTE = ("http://", "https://")


def origin_form(scope: Scope) -> Scope:
    """Returns a request for http://HOST/PATH, as clients ask a proxy, as one for /PATH.

    The host of such an address counts before the header Host (RFC 9112, 3.2.2).
    """
    if not scope["path"].lower().startswith(ABSOLUTE):
        return scope
    host, slash, path = scope["path"].partition("://")[2].partition("/")
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    headers.append((b"host", host.encode("latin-1", "replace")))
    path = slash + path or "/"
    return {
        **scope,
        "path": path,
        "raw_path": urllib.parse.quote(path).encode(),
        "headers": headers,
    }


def is_allowed(host: str, names: Collection[str]) -> bool:
    """Returns whether a request is for this server, by its header Host: "[::1]:8765".

    It may have none (HTTP/1.0). `names` are in lower case, and beside localhost. An address always
    is allowed: it cannot be pointed elsewhere.
    """
    name = PORT.sub("", host.strip().lower()).strip("[]")
    return name in ("", "localhost", *names) or is_address(name)


def is_address(name: str) -> bool:
    """Returns whether a name is an IP address, without brackets around it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
