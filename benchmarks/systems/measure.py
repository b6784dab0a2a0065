"""What every system's script reports, and how. Only NumPy and SciPy: it runs in the peers' environments.

A script defines a subclass of `System` and calls `main` with it. It runs twice, in two fresh processes: ``train`` reads
the training file, trains and saves; ``predict`` opens the model and asks it. Every figure is reported, as a line of
JSON on standard output, as soon as it is known: what a process that is stopped has told counts.
"""

import json
import os
import resource
import sys
import time
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from batches import time_batches

K = 5

#: The maximum number of single rows, and of seconds for them: some systems read their trees again in every call.
MOST_SINGLE_ROWS, MOST_SINGLE_SECONDS = 2000, 10

#: Systems that take more seconds than this for the test rows are not asked a second time.
MOST_BATCH_SECONDS = 60


class System:
    """One system under test. `job` has the paths and numbers that `benchmarks/runner.py` sets."""

    #: Number of rows in one call of batch prediction; None for all rows.
    batch_rows = None

    def __init__(self, job):
        self.job = job

    def load(self):
        """Read the training file; left out by systems that read it as they train."""

    def train(self):
        """Train; may set `self.tree_seconds`, the part of it that building the tree took."""
        raise NotImplementedError

    def save(self):
        """Write the model to `job.model`; left out by systems that do so as they train."""

    def open(self):
        """Open the model, in a process that has done nothing else."""
        raise NotImplementedError

    def queries(self, X):
        """Rows in the form the system takes them; not timed."""
        return X

    def predict_batch(self, queries):
        """The K best labels of some rows, in the system's own form."""
        raise NotImplementedError

    def labels(self, predictions):
        """What `predict_batch` returned as an array of labels, -1 where there are fewer; not timed."""
        return predictions

    def predict_one(self, query):
        """The K best labels of one row."""
        raise NotImplementedError


def main(system_class):
    stage, job = sys.argv[1:]
    report = reporter()
    job = SimpleNamespace(**json.loads(job))
    report(version=system_class.version)
    {"train": train, "predict": predict}[stage](system_class(job), report)


def reporter():
    """A function that writes figures to standard output, which nobody else can write to any more."""
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def report(**figures):
        print(json.dumps(figures), file=stream, flush=True)

    return report


def train(system, report):
    report(imports_mb=peak_memory())
    total = 0.0
    cpu = time.process_time()
    for stage in ("load", "train", "save"):
        action = getattr(system, stage)
        if getattr(System, stage) is getattr(type(system), stage):
            continue  # it has no such stage
        start, cpu_start = time.perf_counter(), time.process_time()
        action()
        seconds = time.perf_counter() - start
        total += seconds
        report(**{f"{stage}_s": seconds})
        if stage == "load":
            report(load_memory_mb=peak_memory())
        if stage == "train":
            report(memory_mb=peak_memory(), train_cpu_s=time.process_time() - cpu_start)
            if hasattr(system, "tree_seconds"):
                report(tree_s=system.tree_seconds)
    # Some read the file as they train, some write the model: the three together compare.
    report(total_s=total, cpu_s=time.process_time() - cpu, model_mb=size_on_disk(system.job.model) / 1e6)


def predict(system, report):
    start = time.perf_counter()
    system.open()
    report(open_ms=(time.perf_counter() - start) * 1e3)

    X = sp.load_npz(system.job.test)
    n_rows = X.shape[0]
    found, seconds, cpu_seconds = predict_all(system, X)
    np.save(system.job.predictions, found)
    report(batch_ms=seconds / n_rows * 1e3, batch_cpu_ms=cpu_seconds / n_rows * 1e3)
    if seconds < MOST_BATCH_SECONDS:
        # The first time reads the model from disk: the second tells what a process costs that goes on.
        report(later_batch_ms=predict_all(system, X)[1] / n_rows * 1e3)

    times = []
    for i in range(min(n_rows, MOST_SINGLE_ROWS)):
        (query,) = as_list(system.queries(X[i]))
        start = time.perf_counter()
        system.predict_one(query)
        times.append(time.perf_counter() - start)
        if sum(times) > MOST_SINGLE_SECONDS:
            break
    report(
        single_p50_ms=float(np.median(times)) * 1e3,
        single_p99_ms=float(np.quantile(times, 0.99)) * 1e3,
        single_rows=len(times),
    )

    for size in system.job.batch_sizes:
        milliseconds = time_batches(
            system.predict_batch, lambda rows: system.queries(X[rows]), n_rows, size, system.job.seed
        )
        report(**{f"batch_{size}_ms": milliseconds})


def predict_all(system, X):
    """The best labels of all rows, and the seconds and CPU seconds that they took."""
    step = system.batch_rows or X.shape[0]
    found, seconds, cpu_seconds = [], 0.0, 0.0
    for first in range(0, X.shape[0], step):
        queries = system.queries(X[first : first + step])
        start, cpu_start = time.perf_counter(), time.process_time()
        predictions = system.predict_batch(queries)
        seconds += time.perf_counter() - start
        cpu_seconds += time.process_time() - cpu_start
        found.append(np.asarray(system.labels(predictions), dtype=np.int64)[:, :K])
    return np.concatenate(found), seconds, cpu_seconds


def unit_rows(X):
    """Rows scaled to unit length, for systems that do not do so themselves."""
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=np.float32).ravel())
    data = X.data / np.repeat(np.maximum(norms, np.finfo(np.float32).tiny), np.diff(X.indptr))
    return sp.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def as_list(queries):
    """One query in a list, also where it is a matrix with one row."""
    return queries if isinstance(queries, list) else [queries]


def peak_memory():
    """The most memory this process ever had, in MB."""
    # Not ru_maxrss on Linux: it begins with what the process that started this one had.
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status") as lines:
            kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        return kilobytes / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def size_on_disk(path):
    """Bytes of a file, or of all files in a folder."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(root, f)) for root, _, files in os.walk(path) for f in files)


def padded(rows):
    """Lists of labels as an array, filled up with -1."""
    table = np.full((len(rows), K), -1, dtype=np.int64)
    for i, row in enumerate(rows):
        table[i, : min(len(row), K)] = row[:K]
    return table
