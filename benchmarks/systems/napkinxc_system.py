from importlib.metadata import version

from measure import K, main, padded
from napkinxc.datasets import load_libsvm_file
from napkinxc.models import PLT


class NapkinXC:
    version = version("napkinxc")

    def __init__(self, path, n_trees, threads):
        # Squared hinge is what its own results are best with on text; everything else as it comes.
        self.model = PLT(path, ensemble=n_trees, loss="squaredHinge", liblinear_c=1, threads=threads, seed=0)

    def load(self, train):
        self.X, self.y = load_libsvm_file(train)

    def train(self):
        self.model.fit(self.X, self.y)

    def save(self):
        pass  # training has written the model

    def predict_batch(self, X):
        return padded(self.model.predict(X, top_k=K))

    def predict_one(self, row):
        return self.model.predict(row, top_k=K)


main(NapkinXC)
