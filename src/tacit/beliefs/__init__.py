"""What can be believed about labels: each kind turns evidence into a posterior."""

from tacit.beliefs._base import Belief, Independent, Posterior
from tacit.beliefs._product import Product
from tacit.beliefs.bags import Bags
from tacit.beliefs.candidates import Candidates
from tacit.beliefs.categorical import Categorical
from tacit.beliefs.chains import Chains
from tacit.beliefs.orderings import Orderings
from tacit.beliefs.pairs import Pairs

__all__ = [
    "Bags",
    "Belief",
    "Candidates",
    "Categorical",
    "Chains",
    "Independent",
    "Orderings",
    "Pairs",
    "Posterior",
    "Product",
]
