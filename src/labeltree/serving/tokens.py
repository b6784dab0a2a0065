"""Bearer tokens: which requests need one, and which tokens are valid."""

from __future__ import annotations

import enum
import hmac
import os
import re
from collections.abc import Iterable
from pathlib import Path

from labeltree.serving.errors import Refusal

#: The environment variable with tokens, separated by commas or white space.
VARIABLE = "LABELTREE_TOKENS"

#: Minimum length of a token: shorter ones can be guessed.
MIN_LENGTH = 16

_CHARACTERS = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)  # as in RFC 6750


class Access(enum.Enum):
    """The token that a request needs."""

    OPEN = "no token"
    READ = "a token, if the server asks for one from all requests"
    WRITE = "a token"


#: Health checks, and the files of the page, which contain no data. The page itself asks for a token.
_OPEN = re.compile(r"/(healthz|readyz|page/[^/]*|)", re.ASCII)
_QUESTIONS = re.compile(r"/v1/models/[^/]+/(predict|explain|suggest)", re.ASCII)


def access_of(method: str, path: str) -> Access:
    """Return the access that a request needs. Unknown POST requests need a token.

    Examples
    --------
    >>> access_of("POST", "/v1/models/pets/predict").name, access_of("POST", "/v1/models/pets/learn").name
    ('READ', 'WRITE')
    """
    if method == "POST":  # no route accepts another method that could change something
        return Access.READ if _QUESTIONS.fullmatch(path) else Access.WRITE
    return Access.OPEN if _OPEN.fullmatch(path) else Access.READ


class Tokens:
    """The valid tokens of a server.

    Parameters
    ----------
    tokens : iterable of str
        Each has at least 16 letters, digits and ``._~+/-``.
    for_all : bool
        Whether requests that change nothing need a token, too.

    Examples
    --------
    >>> from labeltree.serving import Tokens
    >>> tokens = Tokens(["correct-horse-battery"])
    >>> tokens.accepts(b"Bearer correct-horse-battery"), tokens.accepts(b"Bearer staple")
    (True, False)
    """

    def __init__(self, tokens: Iterable[str] = (), *, for_all: bool = False) -> None:
        self._tokens = tuple(dict.fromkeys(token.encode() for token in tokens))
        self.for_all = for_all
        for token in self._tokens:
            if len(token) < MIN_LENGTH or not _CHARACTERS.fullmatch(token.decode()):
                raise ValueError(
                    f"expected tokens of at least {MIN_LENGTH} letters, digits and ._~+/-, got one of {len(token)}; "
                    "'openssl rand -hex 32' makes one"
                )
        if for_all and not self._tokens:
            raise ValueError("all requests need a token, but there are none: no request could be answered")

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None, *, for_all: bool = False) -> Tokens:
        """Read tokens from `LABELTREE_TOKENS` and from a file, one per line; lines that begin with # are comments."""
        lines = [] if path is None else Path(path).read_text(encoding="utf-8").splitlines()
        given = [token for line in lines if (token := line.strip()) and not token.startswith("#")]
        if path is not None and not given:
            raise ValueError(f"{os.fspath(path)}: expected a token on each line, got none")
        in_environment = re.split(r"[\s,]+", os.environ.get(VARIABLE, ""))
        return cls([*given, *filter(None, in_environment)], for_all=for_all)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def accepts(self, authorization: bytes) -> bool:
        """Return whether a header has a valid token, in a time that does not depend on the token."""
        scheme, _, token = authorization.partition(b" ")
        matches = [hmac.compare_digest(known, token.strip()) for known in self._tokens]
        return any(matches) and scheme.lower() == b"bearer"

    def check(self, access: Access, authorization: bytes | None) -> None:
        """Refuse a request if its token is missing or wrong."""
        if access is Access.OPEN or (access is Access.READ and not self.for_all):
            return
        if not self._tokens:
            raise Refusal(403, "this server has no tokens and accepts no changes: start it with --token-file")
        if authorization is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="labeltree"'}
            raise Refusal(401, "expected a header 'Authorization: Bearer …', got none", headers=challenge)
        if not self.accepts(authorization):
            challenge = {"WWW-Authenticate": 'Bearer realm="labeltree", error="invalid_token"'}
            raise Refusal(401, "the token is not valid for this server", "wrong_token", challenge)
