from importlib.metadata import version

import joblib
import numpy as np
import scipy.sparse as sp
from measure import K, System, main, unit_rows
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC


class OneVsRest(System):
    version = version("scikit-learn")
    batch_rows = 500  # the scores of all labels are a dense array

    def load(self):
        self.X, self.y = (sp.load_npz(self.job.inputs[name]) for name in ("features", "labels"))

    def train(self):
        # To a label without examples it would give a score that is better than that of most others.
        self.known = np.flatnonzero(self.y.getnnz(axis=0))
        self.model = OneVsRestClassifier(LinearSVC(random_state=self.job.seed), n_jobs=self.job.threads)
        self.model.fit(self.X, self.y[:, self.known])

    def save(self):
        joblib.dump((self.model, self.known), self.job.model)

    def open(self):
        self.model, self.known = joblib.load(self.job.model)

    def queries(self, X):
        return unit_rows(X)

    def predict_batch(self, X):
        scores = self.model.decision_function(X)
        best = np.argpartition(-scores, K, axis=1)[:, :K]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return self.known[np.take_along_axis(best, order, axis=1)]

    def predict_one(self, row):
        return self.predict_batch(row)


main(OneVsRest)
