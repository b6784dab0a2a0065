from measure import K, main

import labeltree
from labeltree.data import read_xmlc


class Labeltree:
    version = labeltree.__version__

    def __init__(self, path, n_trees, threads):
        self.path = path
        self.threads = threads
        self.model = labeltree.LabelTreeClassifier(n_trees, n_jobs=threads, random_state=0)

    def load(self, train):
        self.X, self.y = read_xmlc(train, n_jobs=self.threads)

    def train(self):
        self.model.fit(self.X, self.y)

    def save(self):
        self.model.save(self.path)

    def predict_batch(self, X):
        return self.model.predict_topk(X, K).labels

    def predict_one(self, row):
        return self.model.predict_topk(row, K)


main(Labeltree)
