"""Clipped sums of the gradients of records that are not formed."""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import torch

from .terms import ParameterGradients


def with_room(clip_norm: float, kind: torch.dtype) -> float:
    """What gradients are clipped to: a little less than clip_norm, since rounding changes with a record's company, by about 1e-6 of
    the clip for each of 256 records in single precision."""
    return clip_norm * (1 - (2.0 ** -12 if kind == torch.float32 else 2.0 ** -36))


class RecordSum:
    """Gradients of B records by all parameters, which give a sum with weights, and norms.

    :param gradients: of each parameter that has an effect.  :param places: of all parameters in a vector of d, such as `total`.
    :param total: d numbers, which every sum is written into: it lasts until the next one is asked for.
    :param masks: of Dropout, as they were drawn (`dropout.Masks`).
    """

    def __init__(self, gradients: dict[Any, ParameterGradients], places: dict[Any, slice], total: torch.Tensor, records: int,
                 masks: Any = None) -> None:
        self.masks = masks
        self._gradients, self._places = gradients, places
        self._total, self._records = total, records
        self._norms: Optional[torch.Tensor] = None

    def norms(self) -> torch.Tensor:
        """(B,), double; NaN where a gradient is not finite, or its square is too large for the type of its numbers."""
        if self._norms is None:
            total = torch.zeros(self._records, dtype=torch.float64, device=self._total.device)
            for gradients in self._gradients.values():
                total += gradients.squared_norms()
            self._norms = torch.where(torch.isfinite(total), total, torch.full_like(total, float("nan"))).clamp(min=0).sqrt()
        return self._norms

    def norm(self, place: int) -> float:
        """Of the record at this place."""
        return float(self.norms()[place])

    def weights(self, clip_norm: float) -> torch.Tensor:
        """(B,), double: what clips the gradients to a little less than clip_norm (NaN: not at all), since the rounding of norms
        and sums must not lengthen what a record adds; 0 for one that is not finite."""
        norms = self.norms()
        if math.isnan(clip_norm):
            return torch.isfinite(norms).double()
        return torch.nan_to_num(with_room(clip_norm, self._total.dtype) / norms, nan=0.0, posinf=1.0).clamp(max=1.0)

    def clipped(self, place: int, clip_norm: float) -> torch.Tensor:
        """What the record at this place adds to `clipped_sum`, d; until the next sum."""
        weights = self.weights(clip_norm)
        alone = torch.zeros_like(weights)
        alone[place] = weights[place]
        return self.weighted(alone)

    def add_means(self, places: Any, shares: Any, total: torch.Tensor) -> None:
        """As `gradients.FoundGradients.add_means`, person by person."""
        weights = torch.zeros(self._records, dtype=torch.float64, device=self._total.device)
        of_all = torch.from_numpy(shares).to(weights.device)
        for place in sorted(set(places.tolist())):
            own = torch.from_numpy(places == place).to(weights.device)
            total[place] += self.weighted(torch.where(own, of_all, weights))

    def clipped_sum(self, clip_norm: float) -> torch.Tensor:
        """The sum of the clipped gradients, d; until the next sum."""
        return self.weighted(self.weights(clip_norm))

    def weighted(self, weights: torch.Tensor) -> torch.Tensor:
        """The sum of the gradients, each times its weight (B,), as a vector of d, until the next sum. Records of weight 0 are
        left out."""
        total = self._total
        kept = weights.nonzero().view(-1)
        everybody = len(kept) == self._records
        weights = (weights if everybody else weights[kept]).to(total.dtype)
        for parameter, place in self._places.items():
            gradients = self._gradients.get(parameter)
            if gradients is None or len(kept) == 0:
                total[place].zero_()
            else:
                (gradients if everybody else gradients.select(kept)).weigh(weights, total[place])
        return total

    def fill(self, places: Sequence[int], rows: torch.Tensor) -> None:
        """Writes the gradients of the records at these places into rows, (places, d)."""
        rows.zero_()
        index = torch.tensor(list(places), dtype=torch.int64, device=rows.device)
        for parameter, gradients in self._gradients.items():
            rows[:, self._places[parameter]] = gradients.rows(index)
