from measure import main
from napkinxc import models
from napkinxc_system import NapkinXC


class NapkinXCRival(NapkinXC):
    """Another of its models than label trees: `settings` has its class and parameters."""

    def model_of(self, **parameters):
        kind = getattr(models, self.job.settings["kind"])
        return kind(self.job.model, threads=self.job.threads, **self.job.settings["parameters"], **parameters)

    def train(self):
        self.model_of(seed=self.job.seed).fit(self.X, self.y)

    def open(self):
        self.model = self.model_of()
        self.model.load()


main(NapkinXCRival)
