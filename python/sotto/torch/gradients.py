"""Ways to the gradient of every record: ghost norms, torch's vectorisation, one record after another."""
from __future__ import annotations

import math
import sys
from typing import Callable, Optional, Protocol

import numpy
import numpy.typing
import torch

from ..agents import clipped_sum
from .data import Batch
from .errors import ModelError
from .flat import FlatParameters
from .ghost import GhostGradients
from .layers import Tensors
from .losses import RecordLoss
from .vectorised import vectorisation

Places = numpy.typing.NDArray[numpy.int64]
Shares = numpy.typing.NDArray[numpy.float64]

# What torch raises for what it cannot do, and layers for what they cannot take.
FAILURES = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AttributeError)


class RecordGradients(Protocol):
    """Gradients of single records.

    `unsafe` is what could let records mix in this way, in words; None: every row is of its own record by construction.
    """

    name: str
    unsafe: Optional[str]

    def find(self, batch: Batch) -> FoundGradients:
        """The gradients of the losses of B >= 1 records."""

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes them into matrix, B x d."""


class FoundGradients(Protocol):
    """Gradients of B records that may be in memory or not."""

    def norm(self, place: int) -> float:
        """Of one record; NaN where its gradient is not finite."""

    def clipped(self, place: int, clip_norm: float) -> torch.Tensor:
        """That of one record, d, clipped (NaN: as it is); zeros for one that is not finite."""

    def add_means(self, places: Places, shares: Shares, total: torch.Tensor) -> None:
        """Adds every record's gradient, times its share (B,), to row `places` (B,) of total, (persons, d). A record that is not
        finite makes its person's row so. Gradients may be lost afterwards."""


class FormedGradients:
    """Gradients of B records in a matrix, B x d."""

    def __init__(self, matrix: torch.Tensor) -> None:
        self.matrix = matrix

    def norm(self, place: int) -> float:
        """By sotto.Agent's own code."""
        return float(clipped_sum(self.matrix[place:place + 1].cpu().numpy(), 1.0)[1][0])

    def clipped(self, place: int, clip_norm: float) -> torch.Tensor:
        """By sotto.Agent's own code."""
        row = self.matrix[place:place + 1].cpu()
        if math.isnan(clip_norm):
            return row[0] if bool(torch.isfinite(row).all()) else torch.zeros_like(row[0])
        return torch.from_numpy(clipped_sum(row.numpy(), clip_norm)[0]).to(row.dtype)

    def add_means(self, places: Places, shares: Shares, total: torch.Tensor) -> None:
        """One by one, so that what is added for a person depends on that person's records alone."""
        for i, (place, share) in enumerate(zip(places, shares)):
            total[int(place)].add_(self.matrix[i], alpha=float(share))


class _Filling:
    """A way that forms gradients."""

    _flat: FlatParameters

    def find(self, batch: Batch) -> FormedGradients:
        """The gradients of the losses of B >= 1 records."""
        matrix = self._flat.vector.new_empty(batch.records, self._flat.dimension)
        self.fill(batch, matrix)
        return FormedGradients(matrix)

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes them into matrix, B x d."""
        raise NotImplementedError


class VectorisedGradients(_Filling):
    """torch's own vectorisation (torch.func, or functorch): every record by itself, all at once.

    Works for layers without rules too, where torch can vectorise all their operations. Every record has parameters of its
    own, whose gradients one backward pass finds. Randomness (Dropout) differs from record to record. A batch that torch
    cannot vectorise after all, as where a branch of the model is taken first, has its records one by one.

    :raises ModelError: this torch has neither torch.func nor functorch.
    """

    name = "vectorised"
    unsafe: Optional[str] = None

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        vmap, self._call = vectorisation()
        self._model = model
        self._loss = loss
        self._flat = flat
        number = {id(parameter): i for i, parameter in enumerate(flat.parameters)}
        self._names = [(f"{prefix}.{name}" if prefix else name, number[id(parameter)])
                       for prefix, layer in model.named_modules(remove_duplicate=False)
                       for name, parameter in layer._parameters.items()
                       if parameter is not None and flat.holds(parameter)]
        self._losses = vmap(self._one, randomness="different")
        self._single = SingleGradients(model, loss, flat)
        self._told = False

    def _one(self, parameters: Tensors, inputs: Tensors, target: torch.Tensor) -> torch.Tensor:
        named = {name: parameters[i] for name, i in self._names}
        outputs = self._call(self._model, named, tuple(value.unsqueeze(0) for value in inputs))
        return self._loss(outputs, target.unsqueeze(0), 1).sum()

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        try:
            self.vectorise(batch, matrix)
        except ModelError:
            raise
        except FAILURES as failure:
            self._single.fill(batch, matrix)
            if not self._told:
                print(f"sotto.torch: a batch was taken one by one, since torch cannot vectorise it: {first_line(failure)}", file=sys.stderr)
            self._told = True

    def vectorise(self, batch: Batch, matrix: torch.Tensor) -> None:
        """The same, or what torch raises for operations that it cannot vectorise."""
        own = tuple(p.detach().expand(batch.records, *p.shape).requires_grad_() for p in self._flat.parameters)
        with torch.enable_grad():
            losses = self._losses(own, batch.inputs, batch.targets)
        _write(torch.autograd.grad(losses.sum(), own, allow_unused=True), self._flat, matrix)


def first_line(failure: BaseException) -> str:
    """What an error says first."""
    return (str(failure).strip().splitlines() or [type(failure).__name__])[0]


def _write(gradients: tuple[Optional[torch.Tensor], ...], flat: FlatParameters, matrix: torch.Tensor) -> None:
    """Gradients of all parameters (of B records each) into their columns; zeros where there is none."""
    for parameter, gradient in zip(flat.parameters, gradients):
        columns = matrix[:, flat.place(parameter)]
        if gradient is None:
            columns.zero_()
        else:
            columns.copy_(gradient.reshape(len(matrix), -1))


class SingleGradients(_Filling):
    """One forward and backward pass a record. Right for every model; slow."""

    name = "one-by-one"
    unsafe: Optional[str] = None

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        self._model = model
        self._loss = loss
        self._flat = flat

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        for i in range(batch.records):
            sum_gradient(self._model, self._loss, self._flat, batch.record(i), matrix[i])


def sum_gradient(model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, batch: Batch, row: torch.Tensor) -> None:
    """Writes the gradient of the sum of the losses of a batch into row (d), by one backward pass."""
    _write(gradient_parts(model, loss, flat, batch), flat, row.unsqueeze(0))


def gradient_parts(model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, batch: Batch) -> tuple[Optional[torch.Tensor], ...]:
    """The same, parameter by parameter; None where one has no effect."""
    with torch.enable_grad():
        losses = loss(model(*batch.inputs), batch.targets, batch.records)
        return torch.autograd.grad(losses.sum(), flat.parameters, allow_unused=True)


WAYS: dict[str, Callable[[torch.nn.Module, RecordLoss, FlatParameters], RecordGradients]] = {
    GhostGradients.name: GhostGradients, VectorisedGradients.name: VectorisedGradients, SingleGradients.name: SingleGradients}
