from labeltree_system import Labeltree
from measure import main

import labeltree


class WordVectors(Labeltree):
    """A classifier that learns word vectors: `settings` has the name of its class and its parameters."""

    def __init__(self, job):
        super().__init__(job)
        self.estimator = getattr(labeltree, job.settings["estimator"])

    def train(self):
        self.model = self.estimator(
            **self.job.settings["parameters"], n_jobs=self.job.threads, random_state=self.job.seed
        )
        self.model.fit(self.X, self.y)


main(WordVectors)
