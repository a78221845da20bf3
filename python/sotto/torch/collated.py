"""Batches of any structure: what a data set and its collate_fn give, as tensors whose first axis is the records'.

A collate_fn gets one record at a time, so that no record has an effect on another one's tensors, whatever it does (padding to
the longest text of a batch would). Records of equal shapes are then one tensor; others are told apart again in the model.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import torch
import torch.utils.data

from .errors import ModelError

Leaves = list[torch.Tensor]


class Structure(NamedTuple):
    """How tensors are nested. `kind` is "tensor", "none", or the class of a container; `keys` are a container's."""

    kind: Any
    keys: tuple[Any, ...] = ()
    parts: tuple["Structure", ...] = ()


def take_apart(value: Any, leaves: Leaves, name: str = "batch") -> Structure:
    """Appends the tensors in nested lists, tuples, dictionaries and dataclasses, in order, to `leaves`.

    :raises ModelError: it holds something else, which is named.
    """
    if value is None:
        return Structure("none")
    if isinstance(value, torch.Tensor):
        leaves.append(value)
        return Structure("tensor")
    keys: tuple[Any, ...]
    if isinstance(value, Mapping):
        keys = tuple(value)
        parts = tuple(take_apart(value[key], leaves, f"{name}[{key!r}]") for key in keys)
    elif isinstance(value, (list, tuple)):
        keys = tuple(getattr(value, "_fields", ()))
        parts = tuple(take_apart(part, leaves, f"{name}[{i}]") for i, part in enumerate(value))
    elif dataclasses.is_dataclass(value):
        keys = tuple(field.name for field in dataclasses.fields(value))
        parts = tuple(take_apart(getattr(value, key), leaves, f"{name}.{key}") for key in keys)
    else:
        raise ModelError(f"data: {name} is of type {type(value).__name__}; it must be a tensor, None, or a list, tuple or dictionary "
                         "of these: let collate_fn make tensors")
    return Structure(type(value), keys, parts)


def put_together(structure: Structure, leaves: Iterator[torch.Tensor]) -> Any:
    """The value of this structure with these tensors."""
    if structure.kind == "none":
        return None
    if structure.kind == "tensor":
        return next(leaves)
    parts = [put_together(part, leaves) for part in structure.parts]
    if issubclass(structure.kind, Mapping):
        return structure.kind(dict(zip(structure.keys, parts)))
    if dataclasses.is_dataclass(structure.kind):
        return structure.kind(**dict(zip(structure.keys, parts)))
    return structure.kind(*parts) if structure.keys else structure.kind(parts)


class _Asked:
    """A batch sampler that gives the rows which sotto asks for, in parts for the workers."""

    def __init__(self, workers: int) -> None:
        self.rows: Sequence[int] = ()
        self._workers = workers

    def __iter__(self) -> Iterator[list[int]]:
        part = max(1, math.ceil(len(self.rows) / self._workers))
        return (list(self.rows[first:first + part]) for first in range(0, len(self.rows), part))


class Items:
    """Reads items of a data set by number, with the workers of a DataLoader where one was given.

    Of a DataLoader it takes the data set, collate_fn, num_workers, worker_init_fn, timeout and multiprocessing_context; its
    sampler, shuffle, batch_size, drop_last and generator have no effect on which records a round uses: sotto draws these.

    :raises ModelError: no data set with a length and items by number.
    """

    def __init__(self, data: Any) -> None:
        loader = data if isinstance(data, torch.utils.data.DataLoader) else None
        self.dataset: Any = data if loader is None else loader.dataset
        if isinstance(self.dataset, torch.utils.data.IterableDataset) or not (
                hasattr(self.dataset, "__len__") and hasattr(self.dataset, "__getitem__")):
            raise ModelError(f"dataset: {type(self.dataset).__name__} has no length or no items by number; use a map-style Dataset")
        usual = loader is None or loader.collate_fn is torch.utils.data.default_collate
        self.collate: Optional[Callable[[list[Any]], Any]] = None if usual or loader is None else loader.collate_fn
        self._records = len(self.dataset)
        self._loader: Any = None
        if loader is not None and loader.num_workers > 0:
            self._asked = _Asked(loader.num_workers)
            # A generator of its own: torch's is the model's.
            self._loader = torch.utils.data.DataLoader(
                self.dataset, batch_sampler=self._asked, num_workers=loader.num_workers, collate_fn=list, persistent_workers=True,
                worker_init_fn=loader.worker_init_fn, timeout=loader.timeout, generator=torch.Generator(),
                multiprocessing_context=loader.multiprocessing_context)

    def __len__(self) -> int:
        """The number of records at the start. :raises ModelError: it has changed."""
        if len(self.dataset) != self._records:
            raise ModelError(f"dataset: {len(self.dataset)} records, and {self._records} when training began; it must not change")
        return self._records

    def read(self, rows: Any) -> list[Any]:
        """The items of these rows."""
        if self._loader is None:
            return [self.dataset[int(row)] for row in rows]
        self._asked.rows = [int(row) for row in rows]
        return [item for part in self._loader for item in part]


def _equal_shapes(columns: Sequence[Sequence[torch.Tensor]]) -> bool:
    return all(len({tensor.shape for tensor in column}) == 1 for column in columns)


class Collated:
    """Records of a data set as tensors, each of shape (records, *that of a batch of one record).

    The structure is that of the first record; all must have it.
    """

    def __init__(self, items: Items) -> None:
        self._items = items
        self._collate = items.collate or torch.utils.data.default_collate
        self.structure = take_apart(self._one(self._items.read([0])[0]), [])

    def __len__(self) -> int:
        return len(self._items)

    def _one(self, item: Any) -> Any:
        return self._collate([item])

    def tensors(self, rows: Any) -> tuple[torch.Tensor, ...]:
        """Tensors of these rows (at least one). Where shapes differ, each is flat, filled up with zeros, and one more tensor
        has the shapes of all.

        :raises ModelError: a record has another structure, kind of numbers, or number of axes.
        """
        records: list[Leaves] = []
        for item in self._items.read(rows):
            leaves: Leaves = []
            if take_apart(self._one(item), leaves) != self.structure:
                raise ModelError("data: the batch of a record has other keys or parts than that of the first record; they must be the same")
            records.append(leaves)
        columns = list(zip(*records))
        if any(len({(tensor.dtype, tensor.dim()) for tensor in column}) > 1 for column in columns):
            raise ModelError("data: records have tensors of different types or numbers of axes; collate_fn must give the same for all")
        if _equal_shapes(columns):
            return tuple(torch.stack(column) for column in columns)
        return tuple(_filled_up(column) for column in columns) + (_shapes(records),)


def _filled_up(column: Sequence[torch.Tensor]) -> torch.Tensor:
    found = column[0].new_zeros(len(column), max(1, max(tensor.numel() for tensor in column)))
    for row, tensor in zip(found, column):
        row[:tensor.numel()] = tensor.reshape(-1)
    return found


def _shapes(records: Sequence[Leaves]) -> torch.Tensor:
    return torch.tensor([[length for tensor in leaves for length in (tensor.dim(), *tensor.shape)] for leaves in records])


def unfilled(tensors: Sequence[torch.Tensor], record: int) -> Leaves:
    """The tensors of one record, from what `Collated.tensors` gives where shapes differ.

    :raises NotImplementedError: in a pass that torch vectorises, where shapes cannot be read.
    """
    try:
        lengths = iter(tensors[-1][record].tolist())
    except RuntimeError as error:
        raise NotImplementedError("records of different shapes take a pass each; pad all to one shape where you can, and see gradients='ghost' for LSTM and GRU") from error
    found: Leaves = []
    for column in tensors[:-1]:
        shape = [next(lengths) for _ in range(next(lengths))]
        found.append(column[record][:math.prod(shape)].view(shape))
    return found
