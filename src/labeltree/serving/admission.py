"""The requests and bodies that one process has at a time, and the share of each client."""

from __future__ import annotations

from labeltree.serving.errors import overloaded
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
        self._max_bytes_per_client = limits.share_of(self._max_bytes)
        self._n_bytes = 0
        # By client, without those that have none: plain dictionaries, because every request pays for them.
        self._requests_of: dict[str, int] = {}
        self._bytes_of: dict[str, int] = {}

    def begin(self, client: str, *, always: bool) -> None:
        """Count a request whose body has arrived, or refuse it if there are too many."""
        n_requests = self._requests_of.get(client, 0)
        if not always and self._metrics.in_flight >= self.limits.in_flight:
            raise overloaded()
        if not always and n_requests >= self._max_per_client:
            raise overloaded(
                f"at most {self._max_per_client} requests at once from one address: retry later; behind a proxy start "
                "the server with --max-client-share 1"
            )
        self._metrics.began()
        self._requests_of[client] = n_requests + 1

    def end(self, client: str) -> None:
        """Count down a request that is answered."""
        self._metrics.ended()
        n_requests = self._requests_of.pop(client) - 1
        if n_requests:
            self._requests_of[client] = n_requests

    def hold(self, client: str, n_bytes: int) -> None:
        """Count the bytes of a body that arrives, and refuse it if there are too many; they are counted then, too."""
        self._n_bytes += n_bytes
        n_of_client = self._bytes_of[client] = self._bytes_of.get(client, 0) + n_bytes
        if self._n_bytes > self._max_bytes or n_of_client > self._max_bytes_per_client:
            raise overloaded("too many large bodies at once: retry later")

    def free(self, client: str, n_bytes: int) -> None:
        """Count down the bytes of a body."""
        self._n_bytes -= n_bytes
        n_of_client = self._bytes_of.pop(client) - n_bytes
        if n_of_client:
            self._bytes_of[client] = n_of_client
