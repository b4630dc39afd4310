"""The loop: plans, batches, steps, looks and checkpoints, for one run or several at once."""

from __future__ import annotations

import hashlib
import time
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import torch

from tacit._processes import n_processes, process_number, same_everywhere
from tacit.beliefs import Independent
from tacit.errors import InvalidInputError, refuse
from tacit.fitting._checkpoint import CheckpointError, load_state, save_state
from tacit.fitting._feed import Batch, Feed, Share
from tacit.fitting._fingerprint import fingerprint
from tacit.fitting._log import Log
from tacit.fitting._random import set_random_state
from tacit.fitting._rows import mixed, share_of
from tacit.fitting._run import Plan, Run
from tacit.fitting._settings import Execution
from tacit.fitting._signals import Asked, held_back
from tacit.fitting._step import Captured, suits_capture, train_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor, nn

    from tacit.beliefs import Belief
    from tacit.fitting._collection import Collection
    from tacit.fitting._record import Record

__all__ = ["CHECKPOINT", "METRICS", "Fitted", "Progress", "fit"]

CHECKPOINT = "checkpoint.safetensors"
"""The file of a run's folder from which it goes on."""
METRICS = "metrics.jsonl"
"""The file of a run's folder with a record for each epoch."""


class Fitted(NamedTuple):
    """What a run came to.

    Attributes:
        network: In its best state by held-out evidence, or its last where nothing was held out.
        history: A record for each epoch.
        best_epoch: The epoch that the network is from.
        held_out_evidence: Its held-out evidence, if any.
        ended: Why the run ended: "all epochs", "no better for long" or "collapsed".
    """

    network: nn.Module
    history: list[Record]
    best_epoch: int
    held_out_evidence: float | None
    ended: str


class Progress(NamedTuple):
    """How far the runs are, told after each step.

    Attributes:
        done: Epochs done by the run that is furthest behind, with the part of the present one.
        epochs: Epochs that there are at the most.
        record: The record of an epoch that has just ended, if one has.
        network: The network that the record is about, as it is now: to be looked at, not changed.
    """

    done: float
    epochs: int
    record: Record | None
    network: nn.Module | None = None


def fit(
    plans: Sequence[Plan],
    collection: Collection,
    *,
    execution: Execution | None = None,
    folder: Path | None = None,
    resume: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> list[Fitted]:
    """Train one predictor, or several at once.

    Each run gives what it would give alone. All that is random is a function of a run's seed, the
    epoch and the step, so that a run which was killed and resumed ends with the same weights; on
    the CPU to the bit, given the same number of threads. Under `torch.distributed` each process
    takes a part of every batch, and all end with the same weights: those of one process, but for
    what a network draws or averages over a batch itself, and for augmentation.

    Args:
        plans: What to train; the runs are independent of each other. (Networks that draw random
            numbers, such as those with dropout, draw others where several are evaluated as one.)
        collection: What to learn from.
        execution: Where and how.
        folder: Where the metrics (JSON lines) and the checkpoint go; `None` keeps nothing.
        resume: Whether to go on from the folder's checkpoint, if there is one; otherwise one that
            is there is removed.
        watch: Told of the progress after each step.

    Returns:
        What each run came to, in order.

    Raises:
        DivergedError: If a loss is no finite number any more.
        CheckpointError: If a checkpoint cannot be written, read, or belongs to other data or
            settings.
        KeyboardInterrupt: If interrupted; the checkpoint is written first.
    """
    if not len(plans):
        raise refuse("plans", "hold at least one run", "it is empty", "pass one")
    engine = _Engine(plans, collection, execution or Execution(), folder, watch)
    with ExitStack() as stack:
        devices = [engine.device] if engine.device.type == "cuda" else []
        stack.enter_context(torch.random.fork_rng(devices=devices))
        asked = stack.enter_context(held_back())
        if resume:
            engine.go_on(folder)
        engine.run_all(asked)
    return [
        Fitted(
            network=run.result(),
            history=run.history,
            best_epoch=run.best_epoch if run.best_state is not None else run.epoch,
            held_out_evidence=run.best_score if run.best_state is not None else None,
            ended=run.ended,
        )
        for run in engine.runs
    ]


class _Engine:
    """Runs that step together, and where in an epoch they are."""

    def __init__(
        self,
        plans: Sequence[Plan],
        collection: Collection,
        execution: Execution,
        folder: Path | None,
        watch: Callable[[Progress], None] | None,
    ) -> None:
        self.device = execution.torch_device()
        self.execution, self.watch = execution, watch
        self.runs = [
            Run(plan, collection, number=number, execution=execution, device=self.device)
            for number, plan in enumerate(plans)
        ]
        self.position = 0  # steps of the present epoch that are made
        self._feed = Feed(collection, self.device, execution)
        self._beliefs: dict[Run, tuple[Belief, Belief]] = {}
        self._captured: Captured | None = None
        if self._captures():
            self._captured = Captured(self._feed, replace(execution, cuda_graph="yes"))
        self._folder = folder if process_number("world") == 0 else None
        self._log = Log(self._folder / METRICS) if self._folder is not None else None
        self._fingerprint = {} if folder is None else fingerprint(self.runs, plans, collection)
        self._saved_at = time.monotonic()
        self._resumed = False

    def run_all(self, asked: Asked) -> None:
        """Epoch after epoch, until every run has ended."""
        if self._folder is not None and self._log is not None:
            _clear(self._folder, keep=self._resumed)
            # In the order in which they were written: epoch by epoch.
            rounds = zip_longest(*(run.history for run in self.runs))
            self._log.start(record for each in rounds for record in each if record is not None)
        while active := [run for run in self.runs if not run.ended]:
            self._train(active, asked)
            records = [(run, run.finish_epoch()) for run in active]
            for run, record in records:
                if self._log is not None:
                    self._log.add(record)
                self._tell(0.0, record, run.learner.network)
            self.position = 0
            self._after_step(asked)
        self._save()

    def _train(self, active: list[Run], asked: Asked) -> None:
        """The steps of one epoch that are still to be made."""
        epochs = {run: self._placed(run.plan_epoch()) for run in active}
        n_steps = max(map(len, epochs.values()))
        steps = [
            [(run, epoch[step]) for run, epoch in epochs.items() if step < len(epoch)]
            for step in range(self.position, n_steps)
        ]
        for run in active:
            if self.position == 0:
                run.begin_epoch()
            run.learner.network.train()
        for step, batches in zip(steps, self._fed(steps), strict=True):
            for run, _ in step:
                run.begin_step(self.position, len(epochs[run]))
            self._step(step, batches)
            self.position += 1
            self._tell(self.position / n_steps)
            if self.position < n_steps:
                self._after_step(asked)

    def _step(self, step: list[tuple[Run, Tensor]], batches: list[Batch]) -> None:
        learners = [run.learner for run, _ in step]
        set_random_state(self.device, mixed(learners[0].generator.initial_seed()))
        try:
            if self._captured is not None:
                beliefs = [self._belief_of(run) for run, _ in step]
                self._captured(learners, [rows.to(self.device) for _, rows in step], beliefs)
            else:
                train_step(learners, batches, self.execution)
        except InvalidInputError:
            # What an objective refuses may be the doing of weights that have diverged.
            for (run, _), batch in zip(step, batches, strict=False):
                run.check_network(batch.features)
            raise
        for run, _ in step:
            run.n_steps += 1

    def _placed(self, epoch: list[Tensor]) -> list[Tensor]:
        """The batches of an epoch, on the GPU if it holds the features and this process takes all.

        Moving rows step by step would wait each time until the GPU has done what it was asked to.
        """
        if self.device.type == "cpu" or not self._feed.held or n_processes("world") > 1:
            return epoch
        return list(torch.cat(epoch).to(self.device).split([len(rows) for rows in epoch]))

    def _fed(self, steps: list[list[tuple[Run, Tensor]]]) -> Iterator[list[Batch]]:
        """The batches of each step; none where a captured step takes its rows itself."""
        if self._captured is not None:
            return iter([[] for _ in steps])
        shares = ([self._own_share(rows, run) for run, rows in step] for step in steps)
        return self._feed.stream(shares)

    def _own_share(self, rows: Tensor, run: Run) -> Share:
        """What this process takes of a batch, and whether that counts.

        A process whose share is empty takes a group that does not count, so that all processes
        meet in the sums of the objective.
        """
        groups, belief = run.groups, self._belief_of(run)
        own = share_of(rows, groups, process_number("world"), n_processes("world"))
        if len(own):
            return Share(own, belief=belief)
        first = rows[:1] if groups is None else rows[groups[rows] == groups[rows[0]]]
        return Share(first, counts=False, belief=belief)

    def _belief_of(self, run: Run) -> Belief:
        """What a run believes now, where the feed takes it from."""
        known = self._beliefs.get(run)
        if known is None or known[0] is not run.belief:
            known = self._beliefs[run] = (run.belief, self._feed.placed(run.belief))
        return known[1]

    def _after_step(self, asked: Asked) -> None:
        asked.agree()
        is_due = time.monotonic() - self._saved_at >= self.execution.checkpoint_every
        if is_due or asked.signal is not None:
            self._save()
        asked.obey()

    def _tell(
        self, part: float, record: Record | None = None, network: nn.Module | None = None
    ) -> None:
        if self.watch is None:
            return
        running = [run for run in self.runs if not run.ended]
        epochs = max(run.settings.epochs for run in self.runs)
        done = min((run.epoch for run in running), default=epochs) + part
        self.watch(Progress(done, epochs, record, network))

    def _save(self) -> None:
        if self._folder is not None:
            state = {
                "fingerprint": self._fingerprint,
                "position": self.position,
                "runs": [run.state() for run in self.runs],
            }
            save_state(self._folder / CHECKPOINT, state, kind="run")
        self._saved_at = time.monotonic()

    def go_on(self, folder: Path | None) -> None:
        """Go on from a folder's checkpoint, if there is one, on all processes from the same."""
        path = None if folder is None else folder / CHECKPOINT
        there = path is not None and path.exists()
        if n_processes("world") > 1 and not same_everywhere(
            _number(path) if path is not None and there else 0
        ):
            raise CheckpointError(
                f"'{path}' is not the same file for all processes; put the folder where each of "
                "them sees it."
            )
        if path is not None and there:
            self._load(path)

    def _load(self, path: Path) -> None:
        """Go on from a checkpoint of the same plans and data."""
        state = load_state(path, kind="run")
        for what, own in self._fingerprint.items():
            if state["fingerprint"].get(what) != own:
                raise CheckpointError(
                    f"'{path}' belongs to a run with other {what}; resume with those it was "
                    "started with, or start anew in another folder."
                )
        self.position = state["position"]
        for run, stored in zip(self.runs, state["runs"], strict=True):
            run.load(stored)
        self._resumed = True

    def _captures(self) -> bool:
        possible = (
            self.device.type == "cuda"
            and self._feed.held
            and all(isinstance(run.belief, Independent) for run in self.runs)
            and not any(run.settings.update_every for run in self.runs)
            and n_processes("world") == 1
        )
        if self.execution.cuda_graph == "auto":
            return possible and all(suits_capture(run.learner) for run in self.runs)
        return possible and self.execution.cuda_graph == "yes"


def _number(path: Path) -> int:
    """A number that tells a file from others."""
    return int.from_bytes(hashlib.sha256(path.read_bytes()).digest()[:7])


def _clear(folder: Path, *, keep: bool) -> None:
    """Remove what a run that was killed had half written, and a checkpoint that is not wanted."""
    for name in (CHECKPOINT, METRICS):
        for partial in folder.glob(f".{name}.*.partial"):
            partial.unlink(missing_ok=True)
    if not keep:
        (folder / CHECKPOINT).unlink(missing_ok=True)
