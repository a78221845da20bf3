"""Masks of Dropout that are drawn in the pass of a batch, and given again to a record's own pass."""
from __future__ import annotations

import contextlib
import functools
import os
from typing import Any, Callable, Iterator, Optional

import torch

from .unrolled import UNROLLED


def seed_of_masks(predictable: bool, seed: Optional[int], agent: int) -> int:
    """The seed of torch's generator for an agent's masks: from the operating system, unless nothing of the run is secret anyway
    (`predictable`) and a seed is given."""
    return seed + agent if predictable and seed is not None else int.from_bytes(os.urandom(8), "little") >> 1


class NotTheSame(RuntimeError):
    """A pass of one record asks for other masks than that of its batch."""


class Masks:
    """Masks in the order in which a forward pass draws them, with the records as their first axis.

    `layers` are those that this class gives masks to: Dropout itself, and whole layers with Dropout between their parts.
    """

    def __init__(self) -> None:
        self._drawn: list[torch.Tensor] = []
        self._next = 0
        self._place = -1

    @staticmethod
    def layers(model: torch.nn.Module) -> list[torch.nn.Module]:
        return [layer for layer in model.modules() if type(layer) is torch.nn.Dropout or type(layer) in UNROLLED]

    def dropout(self, values: torch.Tensor, share: float, training: bool) -> torch.Tensor:
        """What torch's dropout gives, from the same random numbers; in a record's own pass from its part of the batch's mask.

        :raises NotTheSame: there is no such mask.
        """
        if not training or share in (0.0, 1.0):
            return torch.nn.functional.dropout(values, share, training)
        if self._place < 0:
            mask = torch.empty_like(values).bernoulli_(1 - share).div_(1 - share)
            self._drawn.append(mask)
            return values * mask
        if self._next >= len(self._drawn) or self._drawn[self._next].shape[1:] != values.shape[1:]:
            raise NotTheSame
        mask = self._drawn[self._next]
        self._next += 1
        return values * mask[self._place:self._place + 1]

    def run(self, layer: Any, forward: Callable[..., torch.Tensor], values: torch.Tensor) -> torch.Tensor:
        """A layer of Dropout."""
        return forward(values) if layer.inplace else self.dropout(values, layer.p, layer.training)

    @contextlib.contextmanager
    def given_again(self, model: torch.nn.Module, place: int, records: int) -> Iterator[None]:
        """The model has the masks of the record at this place of the batch of so many records. :raises NotTheSame: it cannot."""
        if any(len(mask) != records for mask in self._drawn):
            raise NotTheSame
        self._place, self._next = place, 0
        with replaced((layer, functools.partial(UNROLLED[type(layer)], layer, self) if type(layer) in UNROLLED else
                       functools.partial(self.run, layer, layer.forward)) for layer in self.layers(model)):
            yield

    def watch(self, *_: Any) -> None:
        """Of a tape: nothing is kept."""

    @staticmethod
    def product(values: torch.Tensor, weight: torch.Tensor, bias: Any) -> torch.Tensor:
        """Of a tape: the product alone."""
        return torch.nn.functional.linear(values, weight, bias)


@contextlib.contextmanager
def replaced(forwards: Any) -> Iterator[None]:
    """Layers with other forward passes: pairs (layer, forward)."""
    before = []
    try:
        for layer, forward in list(forwards):
            before.append((layer, layer.__dict__.get("forward")))
            layer.__dict__["forward"] = forward
        yield
    finally:
        for layer, own in before:
            layer.__dict__.pop("forward", None)
            if own is not None:
                layer.__dict__["forward"] = own
