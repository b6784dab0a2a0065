"""Choose parameters by trials on samples of the data, within a time budget: `tune`.

A trial trains a model and measures it on held-out rows: the score of its predictions, the time per row, and the size
of the model. The trials that no other beats in all three are the Pareto front.
"""

from labeltree.tuning.parameters_file import read_parameters, write_parameters
from labeltree.tuning.result import Trial, Tuning
from labeltree.tuning.space import SearchSpace
from labeltree.tuning.tuner import tune

__all__ = ["SearchSpace", "Trial", "Tuning", "read_parameters", "tune", "write_parameters"]
