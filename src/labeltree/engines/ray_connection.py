"""`RayConnection`: the Ray cluster that an engine uses, and what has to be stopped afterwards."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from labeltree.errors import WorkerError

#: A local cluster sends no statistics, and its workers, which do all the work, do not give way to other programs.
_SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}

_logger = logging.getLogger(__name__)


class RayConnection:
    """A connection to a cluster. One that this process had before stays.

    Attributes
    ----------
    ray : module
    is_local : bool
        Whether the cluster was started here, on this machine alone.
    n_cores, most_cores_of_a_node : int
        The cores of all nodes that tasks may use, and those of the largest node.
    own_node : str
        The id of the node of this process.
    """

    def __init__(self, address: str | None, n_local_cores: int) -> None:
        self.ray = ray = _imported()
        if address is not None and address.startswith("ray://"):
            raise ValueError(
                f"the program must run on a machine of the cluster, got the address {address!r}: submit it by "
                "'ray job submit', or join by 'ray start --address=host:port' and use 'auto'"
            )
        self._is_own = not ray.is_initialized()
        self.is_local = False
        self._stack = ExitStack()
        if self._is_own:
            with ExitStack() as stack:
                stack.callback(ray.shutdown)
                stack.enter_context(_messages_logged(ray))
                with _handler_kept():
                    self.is_local = _connect(ray, address, n_local_cores)
                self._stack = stack.pop_all()
        elif address not in (None, "auto"):
            raise ValueError(
                f"this process is connected to a Ray cluster already: leave the address out, got {address!r}"
            )
        self.own_node = str(ray.get_runtime_context().get_node_id())
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.n_cores, self.most_cores_of_a_node = max(1, sum(cores)), max([1, *cores])

    def nodes(self) -> list[str]:
        """Return the ids of the nodes that are alive."""
        return [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]

    def on_node(self, node: str) -> Any:
        """Return what makes Ray run something on this node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft=False)

    def close(self) -> None:
        """Disconnect if this object has connected; a cluster that was started for it ends."""
        self._stack.close()


def _imported() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError("the engine 'ray' needs Ray: pip install 'labeltree[ray]'") from error
    return ray


def _connect(ray: Any, address: str | None, n_local_cores: int) -> bool:
    """Connect to a cluster, and return whether it was started for that."""
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address != "local":
        try:
            ray.init(address=address or "auto", **quiet)
            return False
        except ConnectionError:
            if address is not None:
                raise
    with _settings():
        try:
            ray.init(address="local", num_cpus=n_local_cores, include_dashboard=False, **quiet)
        except Exception as error:
            # Ray waits 30 seconds for its processes, and then raises an `Exception` that has no class of its own.
            raise WorkerError(
                f"Ray cannot start a cluster on this machine, which may be too busy: {error}"
            ) from error
    return True


@contextmanager
def _settings() -> Iterator[None]:
    """Set environment variables for a cluster that starts now, unless the user has set them."""
    added = {name: value for name, value in _SETTINGS.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _handler_kept() -> Iterator[None]:
    """Keep the program's own handler of SIGTERM, if it has one: Ray replaces it, and ends the program by a crash."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    if handler not in (signal.SIG_DFL, None) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


@contextmanager
def _messages_logged(ray: Any) -> Iterator[None]:
    """Log what Ray tells about dead workers. It would print that to standard output, which may be for data."""
    module, name = ray._private.worker, "print_to_stdstream"
    before = getattr(module, name, None)  # it is not public, so other versions of Ray may not have it

    def log(data: dict[str, Any], *_: Any, **__: Any) -> None:
        _logger.info("%s", "\n".join(map(str, data["lines"])))

    if before is not None:
        setattr(module, name, log)
    try:
        yield
    finally:
        if before is not None:
            setattr(module, name, before)
