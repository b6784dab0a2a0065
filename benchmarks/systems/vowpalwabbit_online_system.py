from measure import main
from vowpalwabbit import Workspace
from vowpalwabbit_system import VowpalWabbit


class OnlineVowpalWabbit(VowpalWabbit):
    def learner(self, options):
        return Workspace(
            f"--plt {self.job.n_labels} --loss_function logistic --holdout_off {self.job.settings['options']} "
            f"--random_seed {self.job.seed} --quiet --data {self.job.inputs['vowpalwabbit']} "
            f"--cache_file {self.job.model}.cache {options}"
        )

    def load(self):
        # It parses text into a cache, here without learning, so that it then learns from the cache alone.
        self.learner("--testonly --kill_cache").finish()

    def train(self):
        self.model = self.learner(f"--passes {self.job.passes} --final_regressor {self.job.model}")


main(OnlineVowpalWabbit)
