from measure import main
from napkinxc.models import Model
from napkinxc_system import NapkinXC


class OnlineNapkinXC(NapkinXC):
    def model_of(self, **parameters):
        # Its Python classes do not name the online model, but what is below them has it.
        return Model(
            model="oplt",
            output=self.job.model,
            threads=self.job.threads,
            **self.job.settings,
            **parameters,
        )

    def train(self):
        # It says how far it is: see `messages` in online_peers.py.
        model = self.model_of(epochs=self.job.passes, seed=self.job.seed, verbose=True)
        model.fit(self.X, self.y)

    def open(self):
        self.model = self.model_of()
        self.model.load()


main(OnlineNapkinXC)
