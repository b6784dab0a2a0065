from importlib.metadata import version

import numpy as np
from measure import K, System, main, padded
from vowpalwabbit import Workspace


class VowpalWabbit(System):
    version = version("vowpalwabbit")
    batch_rows = 1000  # rows are lines of text to it

    def train(self):
        # Its own demonstration's settings, but for the passes and a table of weights that fits into memory.
        bits = 26 if self.job.n_labels < 100_000 else 28
        self.model = Workspace(
            f"--plt {self.job.n_labels} --kary_tree 16 --loss_function logistic --learning_rate 1 --passes 3 "
            f"--holdout_off --bit_precision {bits} --random_seed {self.job.seed} --quiet "
            f"--data {self.job.inputs['vowpalwabbit']} --cache_file {self.job.model}.cache --kill_cache "
            f"--final_regressor {self.job.model}"
        )

    def save(self):
        self.model.finish()

    def open(self):
        self.model = Workspace(
            f"--initial_regressor {self.job.model} --testonly --top_k {K} --loss_function logistic --quiet"
        )

    def queries(self, X):
        lines = []
        for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = zip(X.indices[begin:end].tolist(), X.data[begin:end].tolist(), strict=True)
            lines.append("| " + " ".join(f"{feature}:{value:.6g}" for feature, value in pairs))
        return lines

    def predict_batch(self, lines):
        return [self.predict_one(line) for line in lines]

    def labels(self, predictions):
        # Its complete tree has leaves for more labels than there are, and now and then it names one.
        top = padded(predictions)
        return np.where(top < self.job.n_labels, top, -1)

    def predict_one(self, line):
        return self.model.predict(line)


if __name__ == "__main__":
    main(VowpalWabbit)
