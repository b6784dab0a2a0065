"""The choice of parameters by trials on samples of the data, within a time budget: `tune`.

A trial trains a model and measures three things on rows that were held out: how good its answers are, how long a row
takes, and how large the model is. Those that nothing beats in all three are the Pareto front.
"""

from labeltree.tuning.parameters_file import read_parameters, write_parameters
from labeltree.tuning.result import Tuning
from labeltree.tuning.space import SearchSpace
from labeltree.tuning.trial import Trial
from labeltree.tuning.tuner import tune

__all__ = ["SearchSpace", "Trial", "Tuning", "read_parameters", "tune", "write_parameters"]
