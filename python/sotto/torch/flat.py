"""The trainable parameters of a model as one vector."""
from __future__ import annotations

import os
from typing import Any

import numpy
import numpy.typing
import torch

import sotto

from .errors import ModelError

Vector = numpy.typing.NDArray[Any]


def trainable(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Parameters with `requires_grad`, in the order of `model.parameters()`; those that several layers share once.

    :raises ModelError: there are none, or not all have the type float32, or not all float64.
    """
    found = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if any(isinstance(parameter, torch.nn.parameter.UninitializedParameter) for parameter in found):
        raise ModelError("model: a lazy layer has no parameters yet; call the model once on a batch first")
    if sum(parameter.numel() for parameter in found) == 0:
        raise ModelError("model: it has no trainable parameter; at least one must have requires_grad=True")
    types = {parameter.dtype for parameter in found}
    if types != {torch.float32} and types != {torch.float64}:
        names = ", ".join(sorted(str(kind) for kind in types))
        raise ModelError(f"model: parameters of type {names}; all must be torch.float32, or all torch.float64")
    return found


def dimension(model: torch.nn.Module) -> int:
    """Number of trainable coordinates d; those that several layers share count once. LOCAL.

    :raises ModelError: no trainable parameters, or none of type float32 or float64.
    """
    return sum(parameter.numel() for parameter in trainable(model))


def parameters(model: torch.nn.Module) -> Vector:
    """A copy of the trainable parameters as a float64 vector of length `dimension(model)`, for `sotto.Agent(initial=)`. LOCAL.

    Their order is that of `model.parameters()`, every one row by row.

    :raises ModelError: as `dimension`.
    """
    found = trainable(model)
    values = numpy.empty(sum(parameter.numel() for parameter in found), numpy.float64)
    first = 0
    for parameter in found:
        values[first:first + parameter.numel()] = parameter.detach().cpu().reshape(-1).numpy()
        first += parameter.numel()
    return values


def load(model: torch.nn.Module, run: str | os.PathLike[str] | sotto.Run, agent: int = 0) -> None:
    """Gives the trainable parameters of a model the values that an agent reached in a run (agents/<agent>/model.npy). LOCAL.

    Frozen parameters and buffers stay as they are: make the model as the training did.

    :param run: the run directory, or sotto.Run.
    :raises ModelError: as `dimension`, or the run's model has another number of parameters.
    :raises DataError: there is no run, or this agent's model is not there.
    """
    values = torch.tensor((run if isinstance(run, sotto.Run) else sotto.Run(run)).model(agent))
    if values.numel() != dimension(model):
        raise ModelError(f"model: {dimension(model)} trainable parameters, and the run's has {values.numel()}; make it as the training did")
    found = trainable(model)
    with torch.no_grad():
        for parameter, part in zip(found, values.split([each.numel() for each in found])):
            parameter.copy_(part.view_as(parameter))


class FlatParameters:
    """Makes the trainable parameters of a model views into one vector, so that one copy changes all.

    The parameters stay the same objects (what holds them keeps them); only their storage is the vector's.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self.parameters = trainable(model)
        self.vector = torch.cat([parameter.detach().reshape(-1) for parameter in self.parameters])
        self._first: dict[int, int] = {}
        first = 0
        for parameter in self.parameters:
            self._first[id(parameter)] = first
            parameter.data = self.vector[first:first + parameter.numel()].view(parameter.shape)
            first += parameter.numel()
        self._host = self.vector if self.vector.device.type == "cpu" else self.vector.cpu()
        self._values: Vector = self._host.numpy()

    @property
    def dimension(self) -> int:
        """Length d of the vector."""
        return int(self.vector.numel())

    def holds(self, parameter: object) -> bool:
        """Whether this object is one of the parameters."""
        return id(parameter) in self._first

    def place(self, parameter: torch.Tensor) -> slice:
        """Where a parameter stands in the vector."""
        first = self._first[id(parameter)]
        return slice(first, first + parameter.numel())

    def load(self, values: Vector) -> None:
        """Gives the parameters the values of a vector of length d. Cost: one conversion of d numbers.

        :raises ModelError: somebody has given a parameter other storage (`model.to(...)`, `parameter.data = ...`).
        """
        item = self.vector.element_size()
        for parameter in self.parameters:
            if parameter.data_ptr() != self.vector.data_ptr() + item * self._first[id(parameter)]:
                raise ModelError("model: a parameter was moved after PrivatePeer was made; move the model before, or give `device`")
        numpy.copyto(self._values, values, casting="same_kind")
        if self._host is not self.vector:
            self.vector.copy_(self._host)
