"""Where beliefs come from: what people have, turned into what tacit learns from."""

from tacit.sources._advocates import Advocate, advocates
from tacit.sources._balance import balance_of, with_balance
from tacit.sources._coarse_map import Layer, coarse_map
from tacit.sources._combined import combined, way_for
from tacit.sources._cooccurrence import cooccurrence, count_cooccurrence
from tacit.sources._dawid_skene import dawid_skene, with_accuracies
from tacit.sources._fusion import Fused, fuse, weights_by_evidence
from tacit.sources._grouped import SourceGroup, grouped
from tacit.sources._learned import learned_belief, learned_out_of_fold
from tacit.sources._majority import majority
from tacit.sources._summary import SourceSummary, summarised
from tacit.sources._taxonomy import Taxonomy
from tacit.sources._transition import (
    noisy_labels,
    transition_from_anchors,
    transition_from_trusted,
)
from tacit.sources._voted import Voted
from tacit.sources._votes import Votes

__all__ = [
    "Advocate",
    "Fused",
    "Layer",
    "SourceGroup",
    "SourceSummary",
    "Taxonomy",
    "Voted",
    "Votes",
    "advocates",
    "balance_of",
    "coarse_map",
    "combined",
    "cooccurrence",
    "count_cooccurrence",
    "dawid_skene",
    "fuse",
    "grouped",
    "learned_belief",
    "learned_out_of_fold",
    "majority",
    "noisy_labels",
    "summarised",
    "transition_from_anchors",
    "transition_from_trusted",
    "way_for",
    "weights_by_evidence",
    "with_accuracies",
    "with_balance",
]
