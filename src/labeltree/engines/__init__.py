"""Engines run the tasks of a computation: in this process, in a pool of local processes, or on a Ray cluster.

`labeltree.engine` chooses one for the lines inside a with statement. The result is the same for all engines and for
any number of workers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeltree.engines.batch_predictor import BatchPredictor
    from labeltree.engines.context import current_engine, engine
    from labeltree.engines.in_process import InProcess
    from labeltree.engines.pool import ProcessPool
    from labeltree.engines.prediction import predict, predict_topk
    from labeltree.engines.protocol import Engine, Place
    from labeltree.engines.ray_engine import RayEngine
    from labeltree.engines.task import Task

__all__ = [
    "BatchPredictor",
    "Engine",
    "InProcess",
    "Place",
    "ProcessPool",
    "RayEngine",
    "Task",
    "current_engine",
    "engine",
    "predict",
    "predict_topk",
]

# Names are imported when first used: a worker starts in a third of a second without them.
_HOMES = {
    "BatchPredictor": "batch_predictor",
    "Engine": "protocol",
    "InProcess": "in_process",
    "Place": "protocol",
    "ProcessPool": "pool",
    "RayEngine": "ray_engine",
    "Task": "task",
    "current_engine": "context",
    "engine": "context",
    "predict": "prediction",
    "predict_topk": "prediction",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'labeltree.engines' has no attribute {name!r}")
    value = getattr(import_module(f"labeltree.engines.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
