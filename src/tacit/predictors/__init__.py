"""What predicts labels from features: plain torch modules, built alike wherever they are built."""

from tacit.predictors._automatic import predictor_for
from tacit.predictors._fcn import FCN
from tacit.predictors._linear import Linear
from tacit.predictors._perceptron import Perceptron
from tacit.predictors._pooled_cnn import PooledCNN
from tacit.predictors._positional_fcn import PositionalFCN, with_position
from tacit.predictors._small_cnn import SmallCNN
from tacit.predictors._standardised import Standardised

__all__ = [
    "FCN",
    "Linear",
    "Perceptron",
    "PooledCNN",
    "PositionalFCN",
    "SmallCNN",
    "Standardised",
    "predictor_for",
    "with_position",
]
