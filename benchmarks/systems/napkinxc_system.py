from importlib.metadata import version

from measure import K, System, main, padded
from napkinxc.datasets import load_libsvm_file
from napkinxc.models import PLT


class NapkinXC(System):
    version = version("napkinxc")

    def plt(self, **parameters):
        return PLT(self.job.model, ensemble=self.job.n_trees, threads=self.job.threads, **parameters)

    def load(self):
        self.X, self.y = load_libsvm_file(self.job.train)

    def train(self):
        # Squared hinge is what its own results are best with on text; everything else as it comes.
        # It writes the model as it trains, and says when it has the tree: see `messages` in peers.py.
        model = self.plt(loss="squaredHinge", liblinear_c=1, seed=self.job.seed, verbose=True)
        model.fit(self.X, self.y)

    def open(self):
        self.model = self.plt()
        self.model.load()

    def predict_batch(self, X):
        return self.model.predict(X, top_k=K)

    def labels(self, predictions):
        return padded(predictions)

    def predict_one(self, row):
        return self.model.predict(row, top_k=K)


if __name__ == "__main__":
    main(NapkinXC)
