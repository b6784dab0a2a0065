"""What every classifier of this library promises, as tests.

A classifier's own test file is a dozen lines: a subclass of `ClassifierContract` that says how to make one.
"""

from tests.contract.estimator import EstimatorContract
from tests.contract.inputs import InputContract
from tests.contract.processes import ProcessContract

__all__ = ["ClassifierContract"]


class ClassifierContract(InputContract, EstimatorContract, ProcessContract):
    """The whole contract."""
