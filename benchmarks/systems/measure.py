"""What every system's script reports, and how. Only NumPy and SciPy: it runs in the peers' environments.

A script defines a class with `load`, `train`, `save`, `predict_batch`, `predict_one` and `version` and calls `main`.
"""

import json
import os
import resource
import sys
import time

import numpy as np
import scipy.sparse as sp

K = 5


def read_rows(path):
    """The features of an XMLC file as a CSR matrix, for systems that have no reader of their own."""
    with open(path, encoding="ascii") as lines:
        n_rows, n_features, _ = map(int, next(lines).split())
        indptr, indices, data = [0], [], []
        for line in lines:
            for entry in line.split():
                feature, colon, value = entry.partition(":")
                if colon:
                    indices.append(int(feature))
                    data.append(float(value))
            indptr.append(len(indices))
    return sp.csr_matrix((np.array(data, np.float32), indices, indptr), shape=(n_rows, n_features))


def size_on_disk(path):
    return sum(os.path.getsize(os.path.join(root, f)) for root, _, files in os.walk(path) for f in files) or (
        os.path.getsize(path) if os.path.isfile(path) else 0
    )


def main(system_class):
    train, test, model, output, n_trees, threads = sys.argv[1:]
    system = system_class(model, int(n_trees), int(threads))
    figures = {"version": system.version}

    start = time.perf_counter()
    system.load(train)
    figures["load_s"] = time.perf_counter() - start

    start = time.perf_counter()
    system.train()
    figures["train_s"] = time.perf_counter() - start
    figures["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    start = time.perf_counter()
    system.save()
    figures["save_s"] = time.perf_counter() - start
    # Some read the file as they train, some write the model: the three together compare.
    figures["total_s"] = figures["load_s"] + figures["train_s"] + figures["save_s"]
    figures["model_mb"] = size_on_disk(model) / 1e6

    X = read_rows(test)
    start = time.perf_counter()
    top = np.asarray(system.predict_batch(X), dtype=np.int64)
    figures["batch_ms"] = (time.perf_counter() - start) / X.shape[0] * 1e3

    rows = [X[i] for i in range(min(500, X.shape[0]))]
    seconds = []
    for row in rows:
        start = time.perf_counter()
        system.predict_one(row)
        seconds.append(time.perf_counter() - start)
        if sum(seconds) > 10:  # some read their trees anew for every call
            break
    figures["single_p50_ms"] = float(np.median(seconds)) * 1e3
    figures["single_p99_ms"] = float(np.quantile(seconds, 0.99)) * 1e3

    np.save(output, top)
    print(json.dumps(figures))


def padded(rows):
    """Lists of labels as an array, filled up with -1."""
    table = np.full((len(rows), K), -1, dtype=np.int64)
    for i, row in enumerate(rows):
        table[i, : min(len(row), K)] = row[:K]
    return table
