"""The requests and bodies that one process has at a time, and the share of each client."""

from __future__ import annotations

from collections import Counter

from labeltree.serving.errors import Refusal, overloaded
from labeltree.serving.limits import Limits
from labeltree.serving.metrics import Metrics


class Admission:
    """Counts requests in progress and the bytes of bodies that arrive in parts.

    Parameters
    ----------
    limits : Limits
    metrics : Metrics
        Counts the requests in progress.
    """

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits = limits
        self._metrics = metrics
        self._max_per_client = limits.share_of(limits.in_flight)
        self._max_bytes = limits.in_flight * limits.body_bytes
        self._per_client: Counter[str] = Counter()
        self._bytes_per_client: Counter[str] = Counter()
        self._n_bytes = 0

    def begin(self, client: str, *, always: bool) -> None:
        """Count a request whose body has arrived, or refuse it if there are too many."""
        if not always and self._metrics.in_flight >= self.limits.in_flight:
            raise overloaded()
        if not always and self._per_client[client] >= self._max_per_client:
            raise overloaded(
                f"at most {self._max_per_client} requests at once from one address: retry later; behind a proxy start "
                "the server with --max-client-share 1"
            )
        self._metrics.began()
        self._per_client[client] += 1

    def end(self, client: str) -> None:
        """Count down a request that is answered."""
        self._metrics.ended()
        self._per_client[client] -= 1
        if not self._per_client[client]:
            del self._per_client[client]

    def hold(self, client: str, n_bytes: int) -> None:
        """Count the bytes of a body that arrives or, if negative, is freed; refuse it if there are too many."""
        if not n_bytes:
            return
        self._n_bytes += n_bytes
        self._bytes_per_client[client] += n_bytes
        if self._bytes_per_client[client] <= 0:
            del self._bytes_per_client[client]
        if n_bytes > 0 and (
            self._n_bytes > self._max_bytes
            or self._bytes_per_client[client] > self.limits.share_of(self._max_bytes)
        ):
            raise Refusal(503, "too many large bodies at once: retry later", headers={"Retry-After": "1"})
