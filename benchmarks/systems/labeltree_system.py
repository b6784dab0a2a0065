from measure import K, System, main

import labeltree.model_file  # else imported when a model is opened; nobody's imports are timed
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc


class Labeltree(System):
    version = labeltree.__version__
    estimator = LabelTreeClassifier

    def load(self):
        self.X, self.y = read_xmlc(self.job.train, n_jobs=self.job.threads)

    def train(self):
        self.model = self.estimator(self.job.n_trees, n_jobs=self.job.threads, random_state=self.job.seed)
        self.model.fit(self.X, self.y)
        self.tree_seconds = self.model.fit_seconds_["clustering"]

    def save(self):
        self.model.save(self.job.model)

    def open(self):
        self.model = self.estimator.load(self.job.model).set_params(n_jobs=self.job.threads)

    def predict_batch(self, X):
        return self.model.predict_topk(X, K).labels

    def predict_one(self, row):
        return self.model.predict_topk(row, K)


if __name__ == "__main__":
    main(Labeltree)
