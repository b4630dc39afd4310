"""What can be believed about labels: each kind turns evidence into a posterior."""

from tacit.beliefs._base import Belief, Independent, Posterior
from tacit.beliefs.candidates import Candidates
from tacit.beliefs.categorical import Categorical

__all__ = ["Belief", "Candidates", "Categorical", "Independent", "Posterior"]
