"""The host names that a server answers for, so that no web page can reach it under a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import ip_address

from labeltree.serving.errors import Refusal

#: Stands for any name.
ANY = "*"

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})", re.ASCII)

#: Names that were accepted before are found without a look at their parts. Ports make them many.
_MAX_KNOWN = 256


class Hosts:
    """Accepts ``localhost``, IP addresses and the names that were given, with any port.

    A page of another site can make its own name point to this server (DNS rebinding): the browser then sends that name
    as the host, and never an IP address.

    Parameters
    ----------
    names : iterable of str
        More names; ``*`` accepts all.

    Examples
    --------
    >>> hosts = Hosts(["tags.example.org"])
    >>> [hosts.accepts(host) for host in (b"localhost:8000", b"10.0.0.7", b"[::1]:80", b"evil.example")]
    [True, True, True, False]
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = {"localhost"}
        for name in names:
            if name != ANY and not _is_address(name) and not _NAME.fullmatch(name):
                raise ValueError(f"expected the name of a host without a port, or '*', got {name!r}")
            self._names.add(name.lower().rstrip("."))
        self._known: set[bytes | None] = {None}  # clients without a host are no browsers

    def accepts(self, host: bytes | None) -> bool:
        """Return whether a `Host` header names this server."""
        if host in self._known:
            return True
        name = _without_port(host.decode("latin-1")) if host is not None else ""
        is_known = ANY in self._names or name.lower().rstrip(".") in self._names or _is_address(name)
        if is_known and len(self._known) < _MAX_KNOWN:
            self._known.add(host)
        return is_known

    def check(self, host: bytes | None) -> None:
        """Refuse a request for another host."""
        if not self.accepts(host):
            name = _without_port((host or b"").decode("latin-1"))
            shown = name if _NAME.fullmatch(name) else "NAME"
            message = f"this server does not answer for this host: start it with --allowed-host {shown}"
            raise Refusal(421, message)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (":" not in name or name.endswith("]")) else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name[1:-1] if name.startswith("[") and name.endswith("]") else name)
    except ValueError:
        return False
    return True
