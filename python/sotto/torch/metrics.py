"""What an evaluation says beside the loss."""
from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Optional

import torch

from .errors import ModelError

#: Functions f(outputs, targets) -> number, of all records of an evaluation at once.
Metrics = Mapping[str, Callable[[Any, Any], Any]]


class Evaluation(NamedTuple):
    """Mean loss of a data set, the share of records (of a sequence, of its positions) that are right (NaN where targets are no
    classes), and the user's metrics by name."""

    loss: float
    accuracy: float
    metrics: dict[str, float] = {}


def right_classes(outputs: Any, targets: Any, ignored: int = -100) -> Optional[torch.Tensor]:
    """Which records are given their class, shape (records,); None where outputs and targets are no classes.

    Scores of classes (records, classes) with integer targets (records,): the largest score. One score a record with
    targets 0 or 1: its sign. Scores (records, classes, positions, ...) or (records, positions, ..., classes) with integer
    targets (records, positions, ...): the share of positions whose target is not `ignored` that are right; a record without
    such a position counts as right.
    """
    if not isinstance(outputs, torch.Tensor) or not isinstance(targets, torch.Tensor):
        return None
    whole = not targets.is_floating_point()
    if outputs.dim() == 2 and targets.dim() == 1 and outputs.shape[1] > 1 and whole:
        return outputs.argmax(1) == targets
    if outputs.shape == targets.shape and outputs.numel() == len(targets) and bool(((targets == 0) | (targets == 1)).all()):
        return ((outputs > 0) == (targets > 0)).reshape(-1)
    if not whole or targets.dim() < 2 or outputs.dim() != targets.dim() + 1:
        return None
    if outputs.shape[:1] + outputs.shape[2:] == targets.shape:
        right = outputs.argmax(1) == targets
    elif outputs.shape[:-1] == targets.shape:
        right = outputs.argmax(-1) == targets
    else:
        return None
    counts = targets != ignored
    shares = (right & counts).flatten(1).sum(1) / counts.flatten(1).sum(1).clamp(min=1)
    return torch.where(counts.flatten(1).any(1), shares, torch.ones_like(shares))


class Gathered:
    """Outputs and targets of an evaluation's batches, for metrics of all records."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._outputs: list[Any] = []
        self._targets: list[Any] = []

    def add(self, outputs: Any, targets: Any) -> None:
        """What the model made of a batch, or lists of what it made of single records."""
        for kept, values in ((self._outputs, outputs), (self._targets, targets)):
            kept.extend(values if isinstance(values, list) else [values])

    def evaluate(self) -> dict[str, float]:
        """All metrics by name. :raises ModelError: outputs or targets are no tensors, or differ in shape."""
        if not self._metrics:
            return {}
        try:
            outputs, targets = (torch.cat([value.detach().cpu() for value in kept]) for kept in (self._outputs, self._targets))
        except (TypeError, AttributeError, RuntimeError) as error:
            raise ModelError("metrics: outputs and targets must be tensors whose shapes differ in the first axis only; let forward "
                             "return (loss, outputs), and give batches (input, ..., target) or a dictionary with 'labels'") from error
        return {name: float(metric(outputs, targets)) for name, metric in self._metrics.items()}
