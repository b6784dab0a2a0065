from importlib.metadata import version

import omikuji
from measure import K, main, padded


class Omikuji:
    version = version("omikuji")

    def __init__(self, path, n_trees, threads):
        self.path = path
        self.threads = threads
        self.parameters = omikuji.Model.default_hyper_param()
        self.parameters.n_trees = n_trees

    def load(self, train):
        self.file = train  # it reads the file as it trains

    def train(self):
        self.model = omikuji.Model.train_on_data(self.file, self.parameters, n_threads=self.threads)

    def save(self):
        self.model.save(self.path)

    def predict_batch(self, X):
        return padded([self.predict_one(X[i]) for i in range(X.shape[0])])

    def predict_one(self, row):
        pairs = list(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        return [label for label, _ in self.model.predict(pairs, top_k=K)]


main(Omikuji)
