"""Records of a data set as batches of tensors."""
from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy
import numpy.typing
import torch
import torch.utils.data

from .collated import Collated, Items
from .errors import ModelError

Rows = numpy.typing.NDArray[numpy.int64]


class Batch(NamedTuple):
    """Inputs (the model is called with them) and targets of some records, each with the records as its first axis."""

    inputs: tuple[torch.Tensor, ...]
    targets: torch.Tensor

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.targets.shape[0])

    def copies(self, places: Sequence[int]) -> Batch:
        """Copies of the records at these places."""
        def part(values: torch.Tensor) -> torch.Tensor:
            return values[torch.tensor(places, dtype=torch.int64, device=values.device)]

        return Batch(tuple(part(x) for x in self.inputs), part(self.targets))

    def double(self) -> Batch:
        """The same in double precision."""
        def wider(values: torch.Tensor) -> torch.Tensor:
            return values.double() if values.is_floating_point() else values

        return Batch(tuple(wider(x) for x in self.inputs), wider(self.targets))

    def record(self, i: int) -> Batch:
        """Record i, as a batch of one."""
        return Batch(tuple(x[i:i + 1] for x in self.inputs), self.targets[i:i + 1])


class Records:
    """A data set: a map-style torch.utils.data.Dataset whose items are (input, ..., target), every one a tensor or a number, or
    a DataLoader of one (`collated.Items`); or any other that `collated.Collated` has taken apart.

    A TensorDataset is indexed at once; of other data sets the items are read one by one and stacked.

    :raises ModelError: the data set has no length.
    """

    def __init__(self, data: Any, device: torch.device) -> None:
        self._collated = data if isinstance(data, Collated) else None
        self._items: Any = data if isinstance(data, Collated) else Items(data)
        self._device = device
        self._tensors: Sequence[torch.Tensor] = ()
        if self._collated is None and type(self._items.dataset) is torch.utils.data.TensorDataset:
            self._tensors = self._items.dataset.tensors

    def __len__(self) -> int:
        return len(self._items)

    def batch(self, rows: Rows) -> Batch:
        """The records of these rows (at least one).

        :raises ModelError: a row beyond the last record, or items that are not (input, ..., target) of tensors.
        """
        if int(rows.min()) < 0 or int(rows.max()) >= len(self):
            raise ModelError(f"dataset: row {int(rows.max())} of {len(self)} records; "
                             "sotto.Agent(records=) must be the length of the data set")
        if self._collated is not None:
            tensors = self._collated.tensors(rows)
            return Batch(tuple(tensor.to(self._device) for tensor in tensors), torch.zeros(len(rows), device=self._device))
        if self._tensors:
            index = torch.from_numpy(numpy.array(rows, numpy.int64))
            columns: Sequence[Any] = [tensor[index.to(tensor.device)] for tensor in self._tensors]
        else:
            columns = torch.utils.data.default_collate(self._items.read(rows))
        if not isinstance(columns, (list, tuple)) or len(columns) < 2:
            raise ModelError("dataset: an item must be (input, ..., target)")
        inputs: list[Any] = []
        for column in columns[:-1]:
            inputs.extend(column) if isinstance(column, (list, tuple)) else inputs.append(column)
        if not all(isinstance(value, torch.Tensor) for value in [*inputs, columns[-1]]):
            raise ModelError("dataset: inputs and target of an item must be tensors or numbers")
        return Batch(tuple(value.to(self._device) for value in inputs), columns[-1].to(self._device))


def spread(records: int, wanted: int) -> Rows:
    """`wanted` rows at equal distances (all rows where there are not more)."""
    count = min(records, wanted)
    return numpy.arange(count, dtype=numpy.int64) * records // max(count, 1)
