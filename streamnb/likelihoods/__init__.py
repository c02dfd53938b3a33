"""How statistics are read: one frozen dataclass a family, parameters and no state."""

from streamnb.likelihoods.gaussian import Gaussian

__all__ = ["Gaussian"]
