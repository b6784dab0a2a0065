"""What the two ways to train fastText on several labels have in common."""

from importlib.metadata import version

import fasttext
from measure import K, System, padded


class FastText(System):
    version = version("fasttext-numpy2")
    loss: str
    prefix = "__label__"

    def train(self):
        # Learning rate and passes are those of its tutorial on several labels.
        self.model = fasttext.train_supervised(
            self.job.inputs["fasttext"],
            loss=self.loss,
            lr=0.5,
            epoch=25,
            minCount=1,
            thread=self.job.threads,
            seed=self.job.seed,
            verbose=0,
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
