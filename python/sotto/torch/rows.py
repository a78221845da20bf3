"""Random rows of every round against passes of their own."""
from __future__ import annotations

import contextlib
import copy
import math
from typing import Any, Iterator, Optional, Sequence

import numpy
import torch

from ..agents import clipped_difference
from .checks import Modes
from .data import Batch
from .dropout import NotTheSame
from .errors import ModelError
from .flat import FlatParameters
from .gradients import FAILURES, FormedGradients, FoundGradients, RecordGradients, SingleGradients, first_line, gradient_parts
from .losses import RecordLoss
from .sums import RecordSum, with_room

_DRAWN = 1.85  # records a round, on average; with the one that is taken if none is drawn, two
_COMPANY = 4  # records of a pass that is made for the comparison, where rows cannot mix
# Of a clipped gradient, relative to itself and to the clip norm: sums differ by their order.
_TOLERANCES = {torch.float32: (1e-3, 1e-4), torch.float64: (1e-6, 1e-7)}
_COARSE = (2e-2, 1e-3)  # of products that a GPU rounds to 10 bits
_LEAST_NORM = 2.0 ** -10  # shorter gradients are counted alike when norms are measured


class RowCheck:
    """Compares a few random rows of gradients with a forward and backward pass of that record alone.

    What counts is what leaves the agent: the difference of the clipped gradients. Where the pass drew random numbers
    (Dropout) no two passes have the same: single passes get the masks of their records again (ghost). Where that is not
    possible, both sides are computed once more without Dropout, or in eval() where other parts draw; of the user's word the
    whole batch is, otherwise a few of it. What differs is computed again in double precision before the job ends: at a kink
    of the model, such as that of ReLU, rounding can make a difference that is no mixing.

    :param batch_size: records a round, on average.
    """

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, modes: Modes, device: torch.device,
                 batch_size: float) -> None:
        self._model = model
        self._loss = loss
        self._flat = flat
        self._modes = modes
        self._device = device
        self._clip_norm = math.nan
        self._share = min(1.0, _DRAWN / max(1.0, float(batch_size)))
        self._random = numpy.random.default_rng()
        self._first = True

    def begin_round(self) -> None:
        """The next batch is the first of a round, of which at least one row is compared."""
        self._first = True

    def choose(self, records: int) -> list[int]:
        """Places of the rows to compare."""
        chosen = self._random.random(records) < self._share
        if self._first and not chosen.any():
            chosen[self._random.integers(records)] = True
        self._first = False
        return [int(place) for place in numpy.flatnonzero(chosen)]

    def drawn(self) -> list[torch.Tensor]:
        """State of the generators; it changes when the model draws."""
        states = [torch.get_rng_state()]
        if self._device.type == "cuda":
            states.append(torch.cuda.get_rng_state(self._device))
        return states

    def compare(self, way: RecordGradients, batch: Batch, found: FoundGradients, clip_norm: float, chosen: list[int], alone: Batch,
                before: list[torch.Tensor]) -> None:
        """Compares the chosen records of a batch.

        :param found: gradients of the batch.  :param clip_norm: C; NaN: not chosen yet, and a gradient is compared as it is.
        :param alone: copies of the chosen records, from before the pass.  :param before: state of the generators then.
        :raises ModelError: a clipped gradient, or norm, is not that of its record alone.
        """
        if not chosen:
            return
        self._clip_norm = float(clip_norm)
        drew = self._changed(before)
        with self._own_generators():
            if not drew:
                deviation = self._worst(found, chosen, alone)
                if deviation is None:
                    return
                drew = not torch.equal(self._singles(alone).matrix, self._singles(alone).matrix)  # by a generator that is not torch's
                if not drew:
                    self._again(way, batch, chosen, alone, deviation)
                    return
            elif self._same_with_masks(found, chosen, alone, batch.records):
                return
            self._without_randomness(way, batch, chosen, alone)

    def _changed(self, before: list[torch.Tensor]) -> bool:
        return not all(torch.equal(a, b) for a, b in zip(before, self.drawn()))

    @contextlib.contextmanager
    def _own_generators(self) -> Iterator[None]:
        """torch's generators are where they were afterwards."""
        with torch.random.fork_rng([self._device] if self._device.type == "cuda" else []):
            yield

    def _singles(self, records: Batch) -> FormedGradients:
        return SingleGradients(self._model, self._loss, self._flat).find(records.copies(range(records.records)))

    def _same_with_masks(self, found: FoundGradients, chosen: list[int], alone: Batch, records: int) -> bool:
        """Whether single passes with the masks that Dropout drew for these records give the same; not, where others draw too."""
        if not isinstance(found, RecordSum) or found.masks is None:
            return False
        before = self.drawn()
        try:
            for i, place in enumerate(chosen):
                with found.masks.given_again(self._model, place, records):
                    if self._worst(found, [place], alone.copies([i])) is not None:
                        return False
        except NotTheSame:
            return False
        return not self._changed(before)

    def _without_randomness(self, way: RecordGradients, batch: Batch, chosen: list[int], alone: Batch) -> None:
        """Both sides once more, without what is random."""
        others = [place for place in range(batch.records) if place not in chosen]
        company = chosen + (others if way.unsafe is not None else others[:max(0, _COMPANY - len(chosen))])
        for modes in (self._modes.without_dropout, self._modes.evaluating):
            before = self.drawn()
            with modes():
                found = way.find(batch.copies(company))
                deviation = self._worst(found, range(len(chosen)), alone)
                if self._changed(before):
                    continue
                if deviation is None:
                    return
                if modes == self._modes.without_dropout and not torch.equal(
                        self._singles(alone).matrix, self._singles(alone).matrix):
                    continue
                self._again(way, batch.copies(company), list(range(len(chosen))), alone, deviation)
                return
        if way.unsafe is not None:
            raise ModelError("model: it draws random numbers in eval() too, so its rows cannot be compared with single passes; "
                             "use gradients='auto'")

    def _again(self, way: RecordGradients, batch: Batch, chosen: list[int], alone: Batch, deviation: float) -> None:
        """The comparison in double precision. :raises ModelError: it shows the difference too, or cannot be made."""
        note = ""
        if self._flat.vector.dtype != torch.float64:
            try:
                found: Optional[float] = self._in_double(way, batch, chosen, alone)
                if found is None:
                    return
                deviation = found
            except FAILURES as failure:
                note = f" (it could not be computed again in double precision: {first_line(failure)})"
        raise ModelError(
            f"gradients: by {way.name} a record's clipped gradient is not that of a pass of this record alone: they differ by "
            f"{deviation:.3g} of the clip norm{note}, so the model or the loss lets records of a batch mix, or keeps something of "
            "them; nothing of this round was sent; use layers that treat records alone, and gradients='auto'")

    def _in_double(self, way: Any, batch: Batch, chosen: list[int], alone: Batch) -> Optional[float]:
        model = copy.deepcopy(self._model).double()
        loss, flat = self._loss.double(), FlatParameters(model)
        found = type(way)(model, loss, flat).find(batch.copies(range(batch.records)).double())
        return self._worst(found, chosen, alone.double(), (model, loss, flat))

    def _worst(self, found: FoundGradients, places: Sequence[int], alone: Batch, of: Any = None) -> Optional[float]:
        """The largest difference beyond the tolerance from single passes of these records, of clipped gradients or of norms, over
        the clip norm (or the gradient's own); None if there is none. :param of: model, loss and parameters, not one's own."""
        model, loss, flat = of or (self._model, self._loss, self._flat)
        largest = -1.0
        for i, place in enumerate(places):
            parts = gradient_parts(model, loss, flat, alone.copies([i]))
            deviation = self._deviation(found.clipped(place, self._clip_norm), found.norm(place), parts, flat,
                                        isinstance(found, FormedGradients))
            largest = max(largest, deviation)
        return largest if largest >= 0 else None

    def _deviation(self, ours: torch.Tensor, norm: float, parts: Sequence[Any], flat: FlatParameters, formed: bool) -> float:
        """Of one record, from the parts of its gradient; below 0 within the tolerance."""
        relative, absolute = _TOLERANCES[ours.dtype]
        if ours.device.type == "cuda" and ours.dtype == torch.float32 and _coarse_products():
            relative, absolute = _COARSE
        clip = self._clip_norm if formed else with_room(self._clip_norm, ours.dtype)
        theirs = [(torch.zeros_like(p) if part is None else part).detach().contiguous().cpu().numpy()
                  for p, part in zip(flat.parameters, parts)]
        difference, length, wanted = clipped_difference(ours.cpu().numpy(), theirs, clip)
        unit = max(length, _LEAST_NORM) if math.isnan(clip) else clip
        of_norms = abs((norm if math.isfinite(norm) else 0.0) - (wanted if math.isfinite(wanted) else 0.0))
        beyond = difference > relative * length + absolute * unit or of_norms > relative * wanted + absolute * unit
        return max(difference, of_norms) / unit if beyond else -1.0


def _coarse_products() -> bool:
    return bool(torch.backends.cuda.matmul.allow_tf32 or torch.backends.cudnn.allow_tf32)
