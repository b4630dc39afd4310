"""One pass over a part of a stream: learning without an end in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tacit.fitting._feed import Feed, Share
from tacit.fitting._random import set_random_state
from tacit.fitting._rows import batches, check_groups, groups_of, mixed, rows_that_count
from tacit.fitting._step import train_step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.fitting._collection import Collection
    from tacit.fitting._learner import Learner
    from tacit.fitting._settings import Execution

__all__ = ["learn_once"]


def learn_once(
    learners: Sequence[Learner], collection: Collection, execution: Execution, *, number: int
) -> None:
    """Let learners see each instance of a collection once, each in an order of its own.

    Args:
        learners: What learns, all of the same batch size.
        collection: What has come in.
        execution: How it is carried out.
        number: How many collections came before, which decides the order.
    """
    device = learners[0].device
    groups = groups_of(collection.belief)
    check_groups(groups, learners[0].settings.batch_size)
    rows = rows_that_count(len(collection), groups, collection.weight)
    orders = [
        batches(rows, groups, each.settings.batch_size, each.settings.seed, number)
        for each in learners
    ]
    steps = [[Share(own) for own in step] for step in zip(*orders, strict=True)]
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        set_random_state(device, mixed(learners[0].settings.seed, number))
        for learner in learners:
            learner.network.train()
        for position, step in enumerate(Feed(collection, device, execution).stream(steps)):
            for learner in learners:
                learner.generator.manual_seed(mixed(learner.settings.seed, number, position))
            train_step(learners, step, execution)
        for learner in learners:
            learner.network.eval()
