from measure import K, System, main

import labeltree
from labeltree import OnlineLabelTreeClassifier
from labeltree.data import read_xmlc


class Labeltree(System):
    version = labeltree.__version__

    def load(self):
        self.X, self.y = read_xmlc(self.job.train, n_jobs=self.job.threads)

    def train(self):
        # What `fit` with several epochs learns with.
        several = {} if self.job.passes == 1 else {"initial_accumulator": 1.0, "learning_rate": 2.0}
        self.model = OnlineLabelTreeClassifier(
            **several, **self.job.settings, n_jobs=self.job.threads, random_state=self.job.seed
        )
        for _ in range(self.job.passes):
            self.model.partial_fit(self.X, self.y)

    def save(self):
        self.model.save(self.job.model)

    def open(self):
        self.model = OnlineLabelTreeClassifier.load(self.job.model).set_params(n_jobs=self.job.threads)

    def predict_batch(self, X):
        return self.model.predict_topk(X, K).labels

    def predict_one(self, row):
        return self.model.predict_topk(row, K)


main(Labeltree)
