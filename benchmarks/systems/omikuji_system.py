from importlib.metadata import version

import omikuji
from measure import K, System, main, padded
from omikuji import ffi, lib


class Omikuji(System):
    version = version("omikuji")
    batch_rows = 1000  # rows are lists of pairs to it, which take much memory

    # Loading and training are the two halves of Model.train_on_data.
    def load(self):
        self.threads = omikuji._ThreadPoolHandle(self.job.threads)
        self.data = lib.load_omikuji_data_set(self.job.train.encode(), self.threads.ptr)
        if self.data == ffi.NULL:
            raise RuntimeError(f"omikuji cannot read {self.job.train}")

    def train(self):
        parameters = omikuji.Model.default_hyper_param()
        parameters.n_trees = self.job.n_trees
        self.model = omikuji.Model(lib.train_omikuji_model(self.data, parameters, self.threads.ptr))

    def save(self):
        self.model.save(self.job.model)

    def open(self):
        self.model = omikuji.Model.load(self.job.model)
        self.model.init_prediction_thread_pool(self.job.threads)

    def queries(self, X):
        rows = (slice(begin, end) for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True))
        return [list(zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)) for row in rows]

    def predict_batch(self, queries):
        return [self.predict_one(query) for query in queries]

    def labels(self, predictions):
        return padded([[label for label, _ in row] for row in predictions])

    def predict_one(self, query):
        return self.model.predict(query, top_k=K)


main(Omikuji)
