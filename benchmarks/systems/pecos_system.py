from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from measure import K, main, read_rows
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel


def read_labels(path):
    with open(path, encoding="ascii") as lines:
        n_rows, _, n_labels = map(int, next(lines).split())
        indptr, indices = [0], []
        for line in lines:
            first = line.split(" ", 1)[0].strip()
            if first and ":" not in first:
                indices.extend(map(int, first.split(",")))
            indptr.append(len(indices))
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(n_rows, n_labels))


class Pecos:
    version = version("libpecos")

    def __init__(self, path, n_trees, threads):
        self.path = path
        self.n_trees = n_trees
        self.threads = threads

    def load(self, train):
        self.X, self.y = read_rows(train), read_labels(train)

    def train(self):
        vectors = LabelEmbeddingFactory.create(self.y, self.X, method="pifa")
        self.models = []
        for seed in range(self.n_trees):
            clusters = Indexer.gen(vectors, nr_splits=16, max_leaf_size=100, seed=seed, threads=self.threads)
            self.models.append(XLinearModel.train(self.X, self.y, C=clusters, threads=self.threads))

    def save(self):
        for seed, model in enumerate(self.models):
            model.save(f"{self.path}/{seed}")
        # Opened for prediction only it is several times as fast: what its users do.
        self.models = [
            XLinearModel.load(f"{self.path}/{seed}", is_predict_only=True) for seed in range(self.n_trees)
        ]

    def predict_batch(self, X):
        scores = sum(m.predict(X, beam_size=10, only_topk=20, threads=self.threads) for m in self.models)
        top = np.full((X.shape[0], K), -1, dtype=np.int64)
        for i in range(X.shape[0]):
            row = slice(scores.indptr[i], scores.indptr[i + 1])
            best = np.argsort(-scores.data[row], kind="stable")[:K]
            top[i, : len(best)] = scores.indices[row][best]
        return top

    def predict_one(self, row):
        return self.predict_batch(row)


main(Pecos)
