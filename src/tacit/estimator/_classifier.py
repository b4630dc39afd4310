"""The scikit-learn face: beliefs and features in, resolved labels and a predictor out."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tacit.beliefs import Belief
from tacit.diagnostics import held_out_evidence
from tacit.errors import CollapseWarning, refuse
from tacit.estimator._features import read_features
from tacit.estimator._instances import check_length, collected, weights_of
from tacit.estimator._plans import check_settings, execution_of, plans_for
from tacit.estimator._readout import log_prediction, resolved, revised, sums_of
from tacit.estimator._stream import Stream
from tacit.estimator._targets import (
    Target,
    belief_about,
    read_classes,
    read_labels,
    read_target,
)
from tacit.fitting import fit, progress_bar

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import torch
    from numpy.typing import NDArray
    from torch import nn

    from tacit.evidence import ClassMass
    from tacit.fitting import Collection, Execution, Fitted, Progress
    from tacit.objectives import Objective

__all__ = ["BeliefClassifier"]

_OF_A_COLLECTION = (
    *("belief_", "posterior_", "prediction_", "history_", "ended_", "alarms_"),
    "held_out_evidence_",
)
"""What only `fit` can say."""


class BeliefClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn labels from what is believed about them, and a predictor for new data.

    Where other classifiers take labels, `fit` takes a belief about each instance: candidate labels,
    probabilities, pairs, bags, chains (`tacit.beliefs`). It takes plain labels too, some of which
    may be missing. Two answers come out: the *posterior* r, each belief updated by the features of
    its instance, for the collection; and the *prediction* q, from features alone, for new data.

    Each member is a network with first weights, held-out instances and order of its own; q is the
    mean of their predictions. By default no true label is needed anywhere: when to stop and which
    state is best are judged by *held-out evidence* (`tacit.diagnostics.held_out_evidence`).

    Args:
        predictor: "auto" (by the shape of an instance: see `tacit.predictors.predictor_for`),
            "linear", "perceptron", "pooled_cnn", "small_cnn"; a network, of which each member
            trains a copy; or a function that builds one from a `torch.Generator`.
        objective: "rq", "em", "free_energy", "qr", "union_nll", "soft_cross_entropy",
            "hard_cross_entropy", "squared_error", or an objective of `tacit.objectives`, which then
            brings its own mass.
        mass: "auto" (the batch's own where a batch holds four instances of each class on average,
            otherwise tracked), "batch", "tracked", "collection", or a class mass of
            `tacit.evidence`.
        classes: Names of the classes in the belief's order; for labels, all that may occur.
        n_members: Number of networks that are trained and averaged.
        tempering: β in r ∝ p (q / S)^β: below 1 for predictions that are too sure of themselves.
        scale: Whether to standardise features (or channels of images) inside the predictor. Sparse
            features, and predictors that are passed as such, are left as they are.
        epochs: Passes over the collection, at the most; "auto" is as many as make 600 steps, at
            least 20 and at most 300.
        batch_size: Instances in a batch; "auto" is eight per class, at least 128 and at most 4,096.
        learning_rate: Step of the optimizer at its highest.
        optimizer: "adam", "adamw" or "sgd".
        weight_decay: Decay of the weights.
        schedule: "cosine", "plateau" or "constant".
        warm_up: Epochs of soft cross-entropy before the objective.
        update_every: Epochs between two updates of a belief that learns along, such as
            `tacit.sources.dawid_skene`: the reliability of each source is then estimated from what
            the features say too. 0 is never. Held-out evidence is that against the belief as it was
            stated.
        held_out: Share of the collection, in whole groups, kept out of training to judge it; "auto"
            is a tenth where that is 20 instances or more, else 0.
        patience: Epochs without better held-out evidence before training stops; 0 is never; "auto"
            is a fifth of all epochs.
        augment: "none", or "shift" for images.
        on_collapse: "warn", "stop", "restore" or "restart".
        device: "cpu", "cuda", ...; "auto" is a GPU if there is one.
        execution: How it is carried out, see `tacit.fitting.Execution`; its device is not used.
        random_state: Seed. On a CPU the same seed gives the same weights.
        verbose: Whether to show progress.

    Attributes:
        classes_: Names of the classes, `(class,)`.
        belief_: The belief that `posterior_` comes from: as it was stated, or, with `update_every`,
            as q revises it; of votes, `belief_.accuracy()` tells how good each source is.
        posterior_: r on the fitted collection, `(instances, class)`.
        prediction_: q on the fitted collection, `(instances, class)`.
        log_class_mass_: Log of S of the fitted collection, `(class,)`, or `(strata, class)`; finite
            even where a class has vanished.
        held_out_evidence_: Mean over members of their best held-out evidence, in nats per instance;
            None where nothing was held out.
        networks_: The members.
        history_: For each member its records, epoch by epoch.
        ended_: For each member why it ended: "all epochs", "no better for long" or "collapsed".
        alarms_: What was wrong with the states that were kept, a sentence each.
        n_features_in_: Number of features, or of channels.
        dtype_: Precision of all this: float64 where the features are, on a CPU and for a predictor
            by name, otherwise float32.

    Example:
        >>> import numpy as np
        >>> import tacit
        >>> from tacit.beliefs import Candidates
        >>> rng = np.random.default_rng(0)
        >>> truth = np.arange(300) % 3
        >>> X = np.eye(3)[truth] * 3 + rng.normal(size=(300, 3))
        >>> not_label = (truth + rng.integers(1, 3, 300)) % 3
        >>> belief = Candidates.excluding(not_label, n_classes=3)
        >>> model = tacit.BeliefClassifier(n_members=1, random_state=0).fit(X, belief)
        >>> bool((model.posterior_.argmax(1) == truth).mean() > 0.9)
        True
        >>> model.predict([[3, 0, 0], [0, 0, 3]])
        array([0, 2])
    """

    classes_: NDArray[Any]
    belief_: Belief
    log_class_mass_: NDArray[np.floating]
    posterior_: NDArray[np.floating]
    prediction_: NDArray[np.floating]
    networks_: list[nn.Module]

    def __init__(
        self,
        predictor: str | nn.Module | Callable[[torch.Generator], nn.Module] = "auto",
        objective: str | Objective = "rq",
        *,
        mass: str | ClassMass = "auto",
        classes: Sequence[Any] | None = None,
        n_members: int = 3,
        tempering: float = 1.0,
        scale: bool = True,
        epochs: int | str = "auto",
        batch_size: int | str = "auto",
        learning_rate: float = 2e-3,
        optimizer: str = "adam",
        weight_decay: float = 0.0,
        schedule: str = "cosine",
        warm_up: int = 0,
        update_every: int = 0,
        held_out: float | str = "auto",
        patience: int | str = "auto",
        augment: str = "none",
        on_collapse: str = "warn",
        device: str = "auto",
        execution: Execution | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.predictor = predictor
        self.objective = objective
        self.mass = mass
        self.classes = classes
        self.n_members = n_members
        self.tempering = tempering
        self.scale = scale
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.schedule = schedule
        self.warm_up = warm_up
        self.update_every = update_every
        self.held_out = held_out
        self.patience = patience
        self.augment = augment
        self.on_collapse = on_collapse
        self.device = device
        self.execution = execution
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        strata: Any = None,
        folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        watch: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Resolve the labels of a collection and learn to predict them.

        Args:
            X: Features, `(instances, features)` or images `(instances, channel, height, width)`:
                an array, a data frame of numbers, a tensor, or a scipy sparse matrix.
            y: A belief of `tacit.beliefs` about the same instances, or a label for each; NaN, None
                and pandas' NA are missing labels.
            sample_weight: Weight of each instance; 0 leaves it out.
            strata: Stratum of each instance, where the class mass has several.
            folder: Where metrics and checkpoints go; nowhere unless given.
            resume: Whether to go on from the folder's checkpoint, if there is one.
            watch: Told of the progress after each step.
        """
        _check_folder(folder, resume=resume, random_state=self.random_state)
        features = read_features(self.check(), X, reset=True)
        target = read_target(y, self.classes)
        collection = collected(features, target.belief, sample_weight, strata)
        plans = plans_for(self, collection, len(target.classes))
        with ExitStack() as stack:
            if self.verbose and watch is None:
                watch = stack.enter_context(progress_bar())
            fitted = fit(
                plans,
                collection,
                execution=execution_of(self),
                folder=None if folder is None else Path(folder),
                resume=resume,
                watch=watch,
            )
        self._take(fitted, target)
        self._resolve(collection, plans[0].objective.mass.n_strata)
        for alarm in self.alarms_:
            warnings.warn(f"The fit degenerated: {alarm}.", CollapseWarning, stacklevel=2)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> Self:
        """Learn from instances as they come in: one pass over each part, at a constant rate.

        The first part decides how features are standardised. The class mass is a running mean over
        the last 5,000 instances. There is no `posterior_`, which is of a whole collection:
        ask `posterior` for that of a part. What is of epochs has no meaning here; so beliefs stay
        as they are stated, whatever `update_every` says.

        Args:
            X: Features of this part.
            y: A belief about it, or labels.
            classes: All classes that will ever occur, in the first call with labels.
            sample_weight: Weight of each instance.
        """
        is_first = not hasattr(self, "networks_")
        names = self._names_for_part(y, classes, is_first=is_first)
        features = read_features(self.check(), X, reset=is_first)
        target = read_target(y, names) if is_first else Target(belief_about(y, names), names)
        collection = collected(features, target.belief, sample_weight, None)
        if is_first or not hasattr(self, "_stream"):
            plans = plans_for(self, collection, len(target.classes), in_parts=True)
            self._stream = Stream(plans, execution_of(self))
        self.networks_ = self._stream.learn(collection, getattr(self, "networks_", None))
        self.classes_ = target.classes
        sums = sums_of(log_prediction(self, features), collection, 1)
        self.log_class_mass_ = self._stream.mass(sums).squeeze(0).numpy()
        self._forget(*_OF_A_COLLECTION)
        return self

    def _names_for_part(self, y: Any, classes: Any, *, is_first: bool) -> Any:
        """Names of the classes for `partial_fit`, which are settled by the first call."""
        if not is_first:
            if classes is not None and not np.array_equal(read_classes(classes), self.classes_):
                raise refuse(
                    "classes",
                    "be those of the first call",
                    f"it is {list(classes)!r}, not {self.classes_.tolist()!r}",
                    "leave it out, or start with a new model",
                )
            return self.classes_
        names = self.classes if classes is None else classes
        if names is None and not isinstance(y, Belief):
            raise refuse(
                "classes",
                "be passed on the first call to partial_fit",
                "none came",
                "name all classes that will ever occur",
            )
        return names

    def predict_log_proba(self, X: Any) -> NDArray[np.floating]:
        """Log of the prediction q, `(instances, class)`."""
        log_q: NDArray[np.floating] = log_prediction(self, self._read(X)).numpy()
        return log_q

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """The prediction q: what features alone say, `(instances, class)`."""
        q: NDArray[np.floating] = log_prediction(self, self._read(X)).exp_().numpy()
        return q

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each instance by its features alone, `(instances,)`."""
        number = self.predict_log_proba(X).argmax(1)
        label: NDArray[Any] = self.classes_[number]
        return label

    def posterior(
        self, X: Any, y: Any, *, tempering: float | None = None, strata: Any = None
    ) -> NDArray[np.floating]:
        """The posterior r for new instances that come with beliefs, `(instances, class)`.

        S is that of the fitted collection, so that no row depends on the others of the call. The
        belief is taken as it is stated; what `fit` has taught that of its collection is passed on
        by `y.with_learned(model.belief_.learned())`.

        Args:
            X: Features.
            y: A belief about the same instances, or labels of which some are missing.
            tempering: β; that of the settings unless given.
            strata: Stratum of each instance, where the class mass has several.
        """
        features = self._read(X)
        collection = collected(features, belief_about(y, self.classes_), None, strata)
        self._check_strata(collection)
        beta = self.tempering if tempering is None else tempering
        return resolved(self, log_prediction(self, features), collection, beta)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Held-out evidence of beliefs, or the accuracy of the prediction on labels.

        Args:
            X: Features.
            y: A belief, or labels; those that are missing do not count.
            sample_weight: Weight of each instance.

        Returns:
            Nats per instance, 0 for a constant prediction; or a share of right predictions.
        """
        features = self._read(X)
        weight = None if sample_weight is None else weights_of(sample_weight, features)
        if isinstance(y, Belief):
            belief = collected(features, belief_about(y, self.classes_), None, None).belief
            return held_out_evidence(log_prediction(self, features), belief, weight=weight)
        labels = read_labels(y)
        check_length("y", len(labels.values), int(features.shape[0]))
        known = labels.known
        if not known.any():
            raise refuse("y", "hold a label", "all are missing", "score on labels, or on a belief")
        number = log_prediction(self, features).argmax(1).numpy()
        right = (self.classes_[number] == labels.values)[known]
        return float(np.average(right, weights=None if weight is None else weight.numpy()[known]))

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Store the predictor: a folder with `model.json` and its weights in safetensors.

        An objective or a mass that was passed as an object is kept by its name, without settings of
        its own: that matters to `partial_fit` after `load` alone.

        Args:
            path: The folder; it is complete or not there.
            overwrite: Whether to replace a model that is there; at any moment the folder holds the
                old one or the new one.
        """
        from tacit.estimator._store import save

        check_is_fitted(self, "networks_")
        save(self, Path(path), overwrite=overwrite)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, predictor: Any = None, device: str = "auto"
    ) -> Self:
        """Read a predictor that `save` has stored.

        Args:
            path: The folder.
            predictor: The network or function that it was made with, where that was not a name.
            device: Where to predict.
        """
        from tacit.estimator._store import load

        return load(cls, Path(path), predictor=predictor, device=device)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def class_mass_(self) -> NDArray[np.floating]:
        """S: the share of the fitted collection that each class claims."""
        S: NDArray[np.floating] = np.exp(self.log_class_mass_)
        return S

    def check(self) -> Self:
        """Refuse settings that cannot be meant, before any data are read; `fit` begins with it."""
        check_settings(self)
        return self

    if not TYPE_CHECKING:  # or else every misspelt attribute would count as there

        def __getattr__(self, name: str) -> Any:
            """Say why an attribute is not there that only `fit` can give."""
            if name in _OF_A_COLLECTION and "networks_" in vars(self):
                raise NotFittedError(
                    f"`{name}` is of a whole collection that was fitted, and this model was loaded "
                    "or has learned from a stream; ask `posterior` and `predict_proba`, or `fit`."
                )
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _forget(self, *names: str) -> None:
        """Drop what no longer holds."""
        for name in names:
            self.__dict__.pop(name, None)

    def _take(self, fitted: list[Fitted], target: Target) -> None:
        self._forget("_stream")
        self.classes_ = target.classes
        self.networks_ = [each.network for each in fitted]
        self.history_ = [each.history for each in fitted]
        self.ended_ = tuple(each.ended for each in fitted)
        self.alarms_ = _alarms(fitted)
        scores = [each.held_out_evidence for each in fitted if each.held_out_evidence is not None]
        self.held_out_evidence_ = float(np.mean(scores)) if scores else None

    def _resolve(self, collection: Collection, n_strata: int) -> None:
        """q, S and r of the collection that was learned from."""
        log_q = log_prediction(self, collection.features)
        log_mass = sums_of(log_q, collection, n_strata).log_mass
        self.log_class_mass_ = (log_mass if n_strata > 1 else log_mass[0]).numpy()
        self.belief_ = revised(self, log_q, collection, n_strata)
        self.posterior_ = resolved(self, log_q, collection.about(self.belief_), self.tempering)
        self.prediction_ = log_q.exp_().numpy()

    def _read(self, X: Any) -> Any:
        check_is_fitted(self, "networks_")
        return read_features(self, X, reset=False)

    def _check_strata(self, collection: Collection) -> None:
        n_strata = len(np.atleast_2d(self.log_class_mass_))
        if n_strata > 1 and collection.strata is None:
            raise refuse(
                "strata",
                "be given where each stratum has a class mass of its own",
                "none came",
                "pass the stratum of each instance",
            )
        if collection.strata is not None and int(collection.strata.max()) >= n_strata:
            raise refuse(
                "strata",
                f"lie below {n_strata}, the number of strata that were fitted",
                f"the largest is {int(collection.strata.max())}",
                "number them as in `fit`, or leave it out where that had none",
            )


def _check_folder(folder: Any, *, resume: bool, random_state: Any) -> None:
    """Refuse to resume what cannot be found again."""
    if resume and folder is None:
        raise refuse("folder", "be given to resume from", "none came", "pass that of the run")
    if resume and not isinstance(random_state, Integral):
        raise refuse(
            "random_state",
            "be a number to resume by",
            f"it is {random_state!r}, which draws anew each time",
            "pass the seed that the run was started with",
        )


def _alarms(fitted: list[Fitted]) -> tuple[str, ...]:
    """What was wrong with the states that were kept, each thing once."""
    kept = [[r for r in each.history if r.epoch == each.best_epoch][-1] for each in fitted]
    found = {alarm.kind: alarm.message for record in kept for alarm in record.alarms}
    return tuple(found.values())
