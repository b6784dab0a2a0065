from importlib.metadata import version

import extremeText
from measure import K, System, main, padded


class ExtremeText(System):
    version = version("extremetext")
    prefix = "__label__"

    def train(self):
        # It says when it has read the file and when it has trained: see `messages` in peers.py.
        self.model = extremeText.train_supervised(
            self.job.inputs["extremetext"],
            loss="plt",
            wordsWeights=True,
            **self.job.settings,
            thread=self.job.threads,
            verbose=1,
        )

    def save(self):
        self.model.save_model(self.job.model)

    def open(self):
        self.model = extremeText.load_model(self.job.model)

    def queries(self, X):
        bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [
            " ".join(
                f"{i}:{v:.5g}" for i, v in zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
            )
            for a, b in bounds
        ]

    def predict_batch(self, texts):
        return self.model.predict(texts, k=K)[0]

    def labels(self, predictions):
        return padded([[int(label.removeprefix(self.prefix)) for label in row] for row in predictions])

    def predict_one(self, text):
        return self.model.predict(text, k=K)


main(ExtremeText)
