import time
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from measure import K, System, main, unit_rows
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel


class Pecos(System):
    version = version("libpecos")

    def load(self):
        self.X, self.y = (sp.load_npz(self.job.inputs[name]) for name in ("features", "labels"))

    def train(self):
        start = time.perf_counter()
        vectors = LabelEmbeddingFactory.create(self.y, self.X, method="pifa")
        self.tree_seconds = time.perf_counter() - start
        self.models = []
        for tree in range(self.job.n_trees):
            start = time.perf_counter()
            clusters = Indexer.gen(
                vectors,
                nr_splits=16,
                max_leaf_size=100,
                seed=self.job.seed + tree,
                threads=self.job.threads,
            )
            self.tree_seconds += time.perf_counter() - start
            self.models.append(XLinearModel.train(self.X, self.y, C=clusters, threads=self.job.threads))

    def folders(self):
        return [f"{self.job.model}/{tree}" for tree in range(self.job.n_trees)]

    def save(self):
        for model, folder in zip(self.models, self.folders(), strict=True):
            model.save(folder)

    def open(self):
        # For prediction only it is several times as fast: what its users do.
        self.models = [XLinearModel.load(folder, is_predict_only=True) for folder in self.folders()]

    def queries(self, X):
        return unit_rows(X)

    def predict_batch(self, X):
        # The trees' answers are added up; a label that one has among its best may be further down in another.
        best = K if len(self.models) == 1 else 20
        answers = [m.predict(X, beam_size=10, only_topk=best, threads=self.job.threads) for m in self.models]
        return answers[0] if len(answers) == 1 else sum(answers)

    def labels(self, predictions):
        top = np.full((predictions.shape[0], K), -1, dtype=np.int64)
        for i in range(len(top)):
            row = slice(predictions.indptr[i], predictions.indptr[i + 1])
            best = np.argsort(-predictions.data[row], kind="stable")[:K]
            top[i, : len(best)] = predictions.indices[row][best]
        return top

    def predict_one(self, row):
        return self.predict_batch(row)


main(Pecos)
