"""How statistics are read: one frozen dataclass a family, parameters and no state."""

from streamnb.likelihoods.gaussian import Gaussian
from streamnb.likelihoods.poisson import Poisson

__all__ = ["Gaussian", "Poisson"]
