"""How statistics are read: one frozen dataclass a family, parameters and no state."""

from streamnb.likelihoods.bag import Bag, Complement
from streamnb.likelihoods.categorical import Boolean, Categorical
from streamnb.likelihoods.gaussian import Gaussian
from streamnb.likelihoods.poisson import Poisson
from streamnb.likelihoods.text import Text

__all__ = ["Bag", "Boolean", "Categorical", "Complement", "Gaussian", "Poisson", "Text"]
