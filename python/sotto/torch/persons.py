"""Persons with several records: everything of one person at one agent is protected together."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy
import numpy.typing
import torch
from torch.utils.data import DataLoader, Dataset, Subset

from .data import Rows
from .errors import ModelError

#: Who each record belongs to: one integer (or text) a record, or the name of a column of the data set.
Unit = Union[str, torch.Tensor, numpy.typing.NDArray[Any], Sequence[Any]]


class Part(NamedTuple):
    """Records of some persons: rows of the data set, places of their persons, and the share that each has of its person's mean."""

    rows: Rows
    places: numpy.typing.NDArray[numpy.int64]
    shares: numpy.typing.NDArray[numpy.float64]

    def between(self, first: int, end: int) -> Part:
        """Some of them."""
        return Part(self.rows[first:end], self.places[first:end], self.shares[first:end])


class Persons:
    """The records of each person. Person p is row p of what `sotto.Agent` draws; persons are in the order of their first records.

    :param unit: one value a record; records with the same value are one person's.
    :param records: number of records.
    :param most: records of a person in one gradient; 0: all. Which ones is drawn anew each time, by secret coins for each person,
        so that a person who leaves changes nobody else's choice.
    :raises ModelError: another number of values, or none; values that are no whole numbers and no texts.
    """

    def __init__(self, unit: Unit, records: int, most: int = 0) -> None:
        if most < 0:
            raise ModelError(f"unit_records: {most}; it must be 0 (all records of a person) or more")
        values = _values(unit)
        if len(values) != records:
            raise ModelError(f"unit: {len(values)} values for {records} records; it must have one for each record, which says whose it is")
        _, first, person = numpy.unique(values, return_index=True, return_inverse=True)
        number = numpy.empty(len(first), numpy.int64)
        number[numpy.argsort(first, kind="stable")] = numpy.arange(len(first))
        person = number[person.reshape(-1)]
        order = numpy.argsort(person, kind="stable").astype(numpy.int64)
        self._rows = numpy.split(order, numpy.cumsum(numpy.bincount(person))[:-1])
        self._most = most
        self._coins = numpy.random.default_rng()

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, person: int) -> Rows:
        """All records of a person."""
        return self._rows[person]

    def chosen(self, persons: Rows) -> Part:
        """The records whose mean gradient counts for each of these persons, person by person.

        :raises ModelError: a person beyond the last one.
        """
        if int(persons.max()) >= len(self):
            raise ModelError(f"unit: row {int(persons.max())} of {len(self)} persons; sotto.Agent(records=) must be the number of persons")
        own = [self._some(self._rows[int(person)]) for person in persons]
        counts = numpy.array([len(rows) for rows in own])
        return Part(numpy.concatenate(own), numpy.repeat(numpy.arange(len(own)), counts), numpy.repeat(1 / counts, counts))

    def _some(self, rows: Rows) -> Rows:
        if not 0 < self._most < len(rows):
            return rows
        return numpy.sort(self._coins.choice(rows, self._most, replace=False))

    @property
    def statement(self) -> str:
        """For the ledger."""
        some = f" of at most {self._most} of its records, drawn anew each time" if self._most > 0 else " of its records"
        return f"A person's gradient is the mean of the gradients{some}, clipped as one."


def _values(unit: Unit) -> numpy.typing.NDArray[Any]:
    values = numpy.asarray(unit.detach().cpu() if isinstance(unit, torch.Tensor) else unit)
    if values.ndim != 1 or len(values) == 0 or values.dtype.kind not in "iubUS":
        raise ModelError(f"unit: {values.dtype} of shape {tuple(values.shape)}; it must have one whole number (or text) for each record")
    return values


def name_of(unit: Optional[Unit], given: Optional[str]) -> Optional[str]:
    """What the ledger calls a person: the given name, or that of the column; None without persons."""
    if unit is None or given is not None:
        return None if unit is None else given
    return unit if isinstance(unit, str) else "person"


def split_off(unit: Optional[Unit], data: Any) -> tuple[Optional[Unit], Any]:
    """The values of a named column, and the data without it where records are dictionaries. Other units stay as they are.

    :raises ModelError: the data have no such column.
    """
    if not isinstance(unit, str):
        return unit, data
    if isinstance(data, DataLoader):
        values, own = split_off(unit, data.dataset)
        return values, DataLoader(own, batch_size=data.batch_size, collate_fn=data.collate_fn, num_workers=data.num_workers,
                                  worker_init_fn=data.worker_init_fn, timeout=data.timeout,
                                  multiprocessing_context=data.multiprocessing_context)
    names = getattr(data, "column_names", None)
    if names is not None and unit in names:
        return list(data[unit]), WithoutColumn(data, unit)
    values = []
    for i in range(len(data)):
        record = data[i]
        if not isinstance(record, Mapping) or unit not in record:
            raise ModelError(f"unit: '{unit}' is no column of the data, whose record {i} is of type {type(record).__name__}; give a tensor with "
                             "one integer for each record, or data whose records are dictionaries with that key")
        values.append(_plain(record[unit]))
    return values, WithoutColumn(data, unit)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, (torch.Tensor, numpy.generic)) else value


class WithoutColumn(Dataset[Any]):
    """A data set of dictionaries without one of their keys, which no model gets."""

    def __init__(self, data: Any, name: str) -> None:
        self._data, self._name = data, name

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, i: int) -> Any:
        return {key: value for key, value in self._data[i].items() if key != self._name}


def dealt(unit: Unit, data: Any, agents: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Persons with all their records dealt to agents at random: each one's data and unit.

    :raises ModelError: fewer persons than agents.
    """
    values = _values(unit)
    persons = Persons(unit, len(data))
    if len(persons) < agents:
        raise ModelError(f"agents: {agents}, and the data are of {len(persons)} persons; each agent needs at least one")
    order = torch.randperm(len(persons), generator=torch.Generator().manual_seed(seed)).tolist()
    shares = [numpy.sort(numpy.concatenate([persons.rows(person) for person in order[agent::agents]])) for agent in range(agents)]
    return [Subset(data, rows.tolist()) for rows in shares], [values[rows] for rows in shares]
