"""Bearer tokens: who may ask, and who may change anything."""

from __future__ import annotations

import enum
import hmac
import os
import re
from collections.abc import Iterable
from pathlib import Path

from labeltree.serving.errors import Refusal

#: Where tokens may be given, separated by commas or white space.
VARIABLE = "LABELTREE_TOKENS"

#: Shorter ones can be guessed.
SHORTEST = 16

_CHARACTERS = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)  # those of RFC 6750


class Access(enum.Enum):
    """What a request needs."""

    OPEN = "no token, ever"
    READ = "a token if all requests need one"
    WRITE = "a token"


#: For those who watch the server, and the page, which has no data in it and asks for a token.
_OPEN = re.compile(r"/(healthz|readyz|page/[^/]*|)", re.ASCII)
_QUESTIONS = re.compile(r"/v1/models/[^/]+/(predict|explain)", re.ASCII)


def access_of(method: str, path: str) -> Access:
    """What a request needs; whatever is not known to change nothing needs a token.

    Examples
    --------
    >>> access_of("POST", "/v1/models/pets/predict").name, access_of("POST", "/v1/models/pets/learn").name
    ('READ', 'WRITE')
    """
    if method == "POST":  # no route takes another method that may change something
        return Access.READ if _QUESTIONS.fullmatch(path) else Access.WRITE
    return Access.OPEN if _OPEN.fullmatch(path) else Access.READ


class Tokens:
    """The tokens that are right.

    Parameters
    ----------
    tokens : iterable of str
        Of at least 16 letters, digits and ``._~+/-``.
    for_all : bool
        Whether also those who only ask need one.

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
            if len(token) < SHORTEST or not _CHARACTERS.fullmatch(token.decode()):
                raise ValueError(
                    f"expected tokens of at least {SHORTEST} letters, digits and ._~+/-, got one of {len(token)}; "
                    "'openssl rand -hex 32' makes one"
                )
        if for_all and not self._tokens:
            raise ValueError("no request could be answered: all need a token, but there are none")

    @classmethod
    def read(cls, path: str | os.PathLike[str] | None, *, for_all: bool = False) -> Tokens:
        """The tokens of a file, one on each line that does not begin with #, and those of `LABELTREE_TOKENS`."""
        lines = [] if path is None else Path(path).read_text(encoding="utf-8").splitlines()
        stripped = [line.strip() for line in lines]
        given = [line for line in stripped if line and not line.startswith("#")]
        if path is not None and not given:
            raise ValueError(f"{os.fspath(path)}: expected a token on each line, got none")
        in_environment = re.split(r"[\s,]+", os.environ.get(VARIABLE, ""))
        return cls([*given, *filter(None, in_environment)], for_all=for_all)

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def accepts(self, authorization: bytes) -> bool:
        """Whether a header has one of the tokens; how long this takes does not depend on which."""
        scheme, _, token = authorization.partition(b" ")
        right = False
        for known in self._tokens:
            right |= hmac.compare_digest(known, token.strip())
        return right and scheme.lower() == b"bearer"

    def check(self, access: Access, authorization: bytes | None) -> None:
        """Refuse a request whose token is missing or wrong."""
        if access is Access.OPEN or (access is Access.READ and not self.for_all):
            return
        if not self._tokens:
            raise Refusal(
                403,
                "this server has no tokens, and nothing can be changed without one: start it with --token-file",
            )
        if authorization is None:
            raise Refusal(
                401,
                "expected a header 'Authorization: Bearer …', got none",
                headers={"WWW-Authenticate": 'Bearer realm="labeltree"'},
            )
        if not self.accepts(authorization):
            raise Refusal(
                401,
                "the token is not one of this server's",
                "wrong_token",
                {"WWW-Authenticate": 'Bearer realm="labeltree", error="invalid_token"'},
            )
