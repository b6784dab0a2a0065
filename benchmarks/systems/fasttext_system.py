from importlib.metadata import version

import fasttext
from measure import K, System, main, padded


class FastText(System):
    version = version("fasttext-numpy2")
    prefix = "__label__"

    def train(self):
        # It says when it has read the file and when it has trained: see `messages` in peers.py.
        self.model = fasttext.train_supervised(
            self.job.inputs["fasttext"],
            **self.job.settings,
            minCount=1,
            thread=self.job.threads,
            seed=self.job.seed,
            verbose=1,
        )

    def save(self):
        self.model.save_model(self.job.model)

    def open(self):
        self.model = fasttext.load_model(self.job.model)

    def queries(self, X):
        bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [" ".join(map(str, X.indices[begin:end].tolist())) for begin, end in bounds]

    def predict_batch(self, texts):
        return self.model.predict(texts, k=K)[0]

    def labels(self, predictions):
        return padded([[int(label.removeprefix(self.prefix)) for label in row] for row in predictions])

    def predict_one(self, text):
        return self.model.predict(text, k=K)


main(FastText)
