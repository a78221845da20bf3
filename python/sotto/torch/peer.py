"""A PyTorch model that trains as one agent of sotto."""
from __future__ import annotations

import contextlib
import math
import sys
import weakref
from typing import Any, Callable, NamedTuple, Optional, Protocol

import numpy
import torch

from .checks import Checks, Choice, FixedBuffers, Modes, choose_way, refuse_layers
from .data import Batch, Records, Rows, spread
from .dropout import seed_of_masks
from .errors import ModelError
from .flat import FlatParameters, Vector, dimension
from .ghost import GhostGradients
from .gradients import FormedGradients, sum_gradient
from .loops import Loop
from .losses import Loss, RecordLoss
from .metrics import Evaluation, right_classes
from .persons import Persons, Unit
from .rows import RowCheck
from .sums import RecordSum
from .threads import cores_here, default_device, fair_threads, keep_freed_memory, ranks_here, set_threads

_CHECKED_RECORDS = 3
_EVALUATED_AT_ONCE = 256


class Agent(Protocol):
    """What a PrivatePeer needs of `sotto.Agent`."""

    agent: int
    agents: int
    round: int
    rounds: int
    dimension: int
    model: Vector
    adjacency: str
    predictable: bool
    micro_batch: int
    batch_size: int
    clip_norm: float
    more: bool

    def declare(self, statement: str) -> None: ...

    def evaluate_by(self, *, train: Any, test: Any, test_records: int) -> None: ...

    def tune(self, gradients: Any, *, clipped: bool = False) -> None: ...

    def step(self, gradients: Any, *, clipped: bool = False) -> bool: ...

    def finish(self) -> dict[str, Any]: ...


class _Sums(NamedTuple):
    """Sum of losses, number of right records (NaN where targets are no classes), number of records."""

    loss: float
    correct: float
    records: int


class Asked(NamedTuple):
    """A function that finds gradients, and whether it clips them."""

    find: Any
    clipped: bool


class PrivatePeer(Loop):
    """One agent that trains a torch model on its own records, together with the others.

        peer = PrivatePeer(model, torch.nn.CrossEntropyLoss(), shard, agent, test=test)
        result = peer.train()                 # or: while peer.step(): ...

    :param model: trained where it is: its trainable parameters become views into one vector, d numbers of type float32 (or
        all float64). Gradients are taken with the training flags it has now. Its buffers stay fixed. Every rank gives the
        same model; `sotto.Agent(initial=sotto.torch.parameters(model))` gives sotto its values.
    :param loss: loss(outputs, targets): a module or function of torch with a reduction, or any callable, which then is
        called on one record at a time. A record's loss is that of a batch of this record only (`losses.RecordLoss`).
    :param dataset: this agent's records, a map-style Dataset of (input, ..., target); the model is called with all inputs,
        stacked. `sotto.Agent(records=)` must be its length.
    :param agent: a `sotto.Agent` of `dimension(model)` coordinates; tune="auto" lets it choose rounds, batches, clip and steps.
    :param test: records for evaluations, or None.
    :param device: None: the GPU of this rank's number where torch.cuda.is_available(), otherwise the CPU. The model is moved.
    :param gradients: "ghost" (almost as fast as the gradient of a batch), "vectorised" (torch.func or functorch), "one-by-one", or
        "auto", the first of these in which rows cannot mix: ghost norms for sequences of known layers only. Asking for ghost norms of
        another model is an opt-in: privacy then relies on the model treating records alone, and the ledger says so. Agent 0
        says on standard error which way was taken and why, and so does an agent that fell back to another one or opted in. In every
        round random rows are compared with a pass of their own, and the job ends before anything is sent where they differ.
    :param threads: threads of torch and OpenBLAS in this process; None: the host's cores over its ranks, which agent 0 says
        on standard error where there are fewer than cores; 0: left as they are.
    :param seed: of Dropout and other randomness of the forward pass, for tests: where `agent.predictable`, agent u gets
        torch.manual_seed(seed + u). Otherwise torch's generator gets a seed from the operating system, whatever `seed` is: a
        record that is drawn into a batch shifts the masks of those after it, and whoever could predict masks would see more of
        it than its own clipped gradient.
    :param unit: whose each record is, one integer a record: what is protected together is then everything that this agent has of
        one person. A person's gradient is the mean of those of its records, which sotto clips as one. `sotto.Agent(records=)` must
        be the number of persons, and `person=` what the ledger calls them.
    :param unit_records: at most so many of a person's records in one gradient, drawn anew each time; 0: all.
    :raises ModelError: a layer or the loss mixes records, buffers change, or parts do not fit; with what to use instead.

    LOCAL, but for `step` and `train`.
    """

    def __init__(self, model: torch.nn.Module, loss: Loss, dataset: Any, agent: Agent, test: Optional[Any] = None,
                 device: Optional[torch.device | str] = None, *, gradients: str = "auto", threads: Optional[int] = None,
                 seed: Optional[int] = None, unit: Optional[Unit] = None, unit_records: int = 0) -> None:
        if agent.dimension != dimension(model):
            raise ModelError(f"agent: dimension {agent.dimension}; this model's is {dimension(model)} (sotto.torch.dimension)")
        self._agent = agent
        self._set_threads(threads)
        keep_freed_memory()
        self.device = default_device() if device is None else torch.device(device)
        self._model = model.to(self.device)
        self._records = self._records_of(dataset)
        self._persons = self._persons_of(unit, unit_records)
        self._test = None if test is None else self._records_of(test)
        self._loss = RecordLoss(loss, self.device)
        refuse_layers(self._model)
        self._modes = Modes(self._model)
        self._buffers = FixedBuffers(self._model)
        self._flat = FlatParameters(self._model)
        self._load(agent.model)
        self._choice = self._check(gradients)
        self._way = self._choice.way
        per_row = 1.0 if self._persons is None else len(self._records) / len(self._persons)
        self._row_check = RowCheck(self._model, self._loss, self._flat, self._modes, self.device, agent.batch_size * per_row)
        self._say()
        torch.manual_seed(seed_of_masks(seed is not None and agent.predictable, seed, agent.agent))
        agent.evaluate_by(train=self._losses_of(self._records), test=None if self._test is None else self._losses_of(self._test),
                          test_records=0 if self._test is None else len(self._test))
        self._watch()

    def _persons_of(self, unit: Optional[Unit], most: int) -> Optional[Persons]:
        if unit is None:
            if most != 0:
                raise ModelError(f"unit_records: {most} has no meaning without unit, which says whose each record is")
            return None
        if self._agent.adjacency.startswith("agent"):
            raise ModelError(f"unit: not possible with adjacency {self._agent.adjacency}, which protects all data of an agent together; use "
                             "adjacency='record-add-remove'")
        return Persons(unit, len(self._records), most)

    def _set_threads(self, threads: Optional[int]) -> None:
        if threads == 0:
            return
        count = fair_threads() if threads is None else threads
        set_threads(count)
        if threads is None and self._agent.agent == 0 and count < cores_here():
            print(f"sotto.torch: {count} thread{'s' if count > 1 else ''} a rank ({ranks_here()} ranks on {cores_here()} cores); "
                  "threads= sets another number", file=sys.stderr)

    def _say(self) -> None:
        """Which way was taken and why: for the ledger, and on standard error."""
        if self._agent.adjacency.startswith("agent"):
            return
        of_persons = "" if self._persons is None else f" {self._persons.statement}"
        self._agent.declare(self._choice.statement + of_persons)
        if self._agent.agent == 0 or self._choice.detail or self._way.unsafe is not None:
            detail = f" [{self._choice.detail}]" if self._choice.detail else ""
            print(f"sotto.torch: agent {self._agent.agent}: gradients of single records: {self._way.name}; {self._choice.why}{detail}",
                  file=sys.stderr)

    def _check(self, gradients: str) -> Choice:
        """Refuses mixing, chooses the way, and sees that buffers stay."""
        batch = None
        if len(self._records) > 0:
            batch = self._records.batch(spread(len(self._records), _CHECKED_RECORDS))
        checks = Checks(self._model, self._loss, self._flat, self._modes)
        with checks.moved_parameters():
            if batch is not None:
                checks.refuse_mixing(batch)
                self._buffers.check()
            choice = choose_way(gradients, self._model, self._loss, self._flat, checks, batch)
        self._buffers.check()
        return choice

    @property
    def gradients(self) -> str:
        """How gradients of records are found: "ghost", "vectorised" or "one-by-one"."""
        return self._way.name

    @property
    def model(self) -> torch.nn.Module:
        """The torch model with the agent's current parameters. What is written into them is lost with the next round."""
        self._load(self._agent.model)  # always: somebody else may have written into it
        return self._model

    def _load(self, values: Vector) -> None:
        self._flat.load(values)

    def state_dict(self) -> dict[str, torch.Tensor]:
        """A copy of the model's state (current parameters, frozen ones, buffers) for `load_state_dict` of such a model."""
        return {name: value.detach().clone() for name, value in self.model.state_dict().items()}

    def _rows_of_records(self, values: Vector, rows: Rows) -> Vector:
        """Gradients of single records, (len(rows), d), float32 (float64 of a float64 model), in host memory."""
        if len(rows) == 0:
            return self._on_host(self._flat.vector.new_empty(0, self._flat.dimension))
        found: FormedGradients = self._compared(values, rows, self._agent.clip_norm)
        return self._on_host(found.matrix)

    def _rows_of_persons(self, values: Vector, persons: Rows) -> Vector:
        """Mean gradients of the records of persons, (len(persons), d), as of single records."""
        assert self._persons is not None
        total = self._flat.vector.new_zeros(len(persons), self._flat.dimension)
        if len(persons) == 0:
            return self._on_host(total)
        records = self._persons.chosen(persons)
        size = max(1, int(self._agent.micro_batch))
        for first in range(0, len(records.rows), size):
            part = records.between(first, first + size)
            # Not clipped: what counts is the mean, to which all of a record's gradient adds.
            self._compared(values, part.rows, math.nan).add_means(part.places, part.shares, total)
        return self._on_host(total)

    def _sum_of_records(self, values: Vector, rows: Rows, clip_norm: float) -> tuple[Optional[Vector], Vector]:
        """The sum of the gradients of records, each clipped to clip_norm (None where this is NaN), (d,), and their norms before."""
        if len(rows) == 0:
            return self._on_host(torch.zeros_like(self._flat.vector)), numpy.empty(0)
        found: RecordSum = self._compared(values, rows, clip_norm)
        norms = self._on_host(found.norms())
        return None if math.isnan(clip_norm) else self._on_host(found.clipped_sum(clip_norm)), norms

    def _compared(self, values: Vector, rows: Rows, clip_norm: float) -> Any:
        """Gradients of records, some of which were compared with a pass of their own."""
        self._prepare(values)
        batch = self._records.batch(rows)
        chosen, before = self._row_check.choose(len(rows)), self._row_check.drawn()
        alone = batch.copies(chosen)
        found = self._way.find(batch)
        self._buffers.check()
        self._row_check.compare(self._way, batch, found, clip_norm, chosen, alone, before)
        self._buffers.check()
        return found

    def _mean_of_records(self, values: Vector, rows: Rows) -> Vector:
        """Mean gradient of records, (d,); zeros without records. At most `micro_batch` are in memory at a time."""
        total = torch.zeros_like(self._flat.vector)
        row = torch.empty_like(total)
        size = max(1, int(self._agent.micro_batch))
        if len(rows) > 0:
            self._prepare(values)
        for first in range(0, len(rows), size):
            sum_gradient(self._model, self._loss, self._flat, self._records.batch(rows[first:first + size]), row)
            total += row
        self._buffers.check()
        return self._on_host(total / max(1, len(rows)))

    def _gradient_alone(self, values: Vector, row: int) -> Vector:
        """The gradient of one record (or person), by passes of its own, not clipped, (d,)."""
        self._prepare(values)
        rows = numpy.array([row], numpy.int64) if self._persons is None else self._persons.rows(row)
        found, total = torch.empty_like(self._flat.vector), torch.zeros_like(self._flat.vector)
        for one in rows:
            sum_gradient(self._model, self._loss, self._flat, self._records.batch(numpy.array([one], numpy.int64)), found)
            total += found / len(rows)
        return self._on_host(total).astype(numpy.float64)

    def _prepare(self, values: Vector) -> None:
        self._load(values)  # always: a round of several local steps has several models
        self._modes.restore()

    @staticmethod
    def _on_host(gradients: torch.Tensor) -> Vector:
        result: Vector = gradients.detach().cpu().numpy()
        return result

    def step(self) -> bool:
        """One round: gradients, clipping, noise, exchange, mixing, accounting. COLLECTIVE over all agents.

        The first one also tunes, if the agent has tune="auto".

        :returns: False after the last round, or where the run was stopped.
        :raises ModelError: a buffer changed, a row is not that of its record alone, or the data set does not hold the agent's
            rows; before anything of the round is sent. Errors of sotto pass through.
        """
        asked = self._asked()
        self._row_check.begin_round()
        self._agent.tune(asked.find, clipped=asked.clipped)
        self._row_check.begin_round()
        return bool(self._agent.step(asked.find, clipped=asked.clipped))

    def _asked(self) -> Asked:
        """What sotto calls in a round."""
        if self._agent.adjacency.startswith("agent"):
            return Asked(self._mean_of_records, False)
        if self._persons is not None:
            return Asked(self._rows_of_persons, False)
        clipped = isinstance(self._way, GhostGradients)
        return Asked(self._sum_of_records if clipped else self._rows_of_records, clipped)

    def evaluate(self, dataset: Any) -> Evaluation:
        """Mean loss, and accuracy where targets are classes (else NaN), of the current model in eval(). LOCAL.

        The figures come from raw data: they are not private outputs.

        :raises ModelError: the data set has no records.
        """
        records = self._records_of(dataset)
        if len(records) == 0:
            raise ModelError("dataset: no records to evaluate; at least one is needed")
        with self._current(self._agent.model):
            sums = self._sums(records, numpy.arange(len(records), dtype=numpy.int64))
        return Evaluation(sums.loss / sums.records, sums.correct / sums.records)

    def _records_of(self, dataset: Any) -> Records:
        return Records(dataset, self.device)

    def _records_given(self) -> int:
        return len(self._records) if self._persons is None else len(self._persons)

    def _release(self) -> None:
        self._load(self._agent.model)
        del self._records, self._test

    @contextlib.contextmanager
    def _current(self, values: Vector) -> Any:
        """The model in eval() with these parameters."""
        self._load(values)
        with self._modes.evaluating(), torch.no_grad():
            yield

    def _sums(self, records: Records, rows: Rows) -> _Sums:
        loss, correct = 0.0, 0.0
        for first in range(0, len(rows), _EVALUATED_AT_ONCE):
            batch: Batch = records.batch(rows[first:first + _EVALUATED_AT_ONCE])
            outputs = self._model(*batch.inputs)
            loss += float(self._loss(outputs, batch.targets, batch.records).sum(dtype=torch.float64))
            right = right_classes(outputs, batch.targets, self._loss.ignored)
            correct += math.nan if right is None else float(right.sum())
        return _Sums(loss, correct, len(rows))

    def _losses_of(self, records: Records) -> Callable[[Vector, int, int], tuple[float, Optional[float], int]]:
        """Losses over rows first, first + stride, ... as sotto asks for them; None right where targets are no classes."""

        known = weakref.ref(self)  # the agent has this function, and the peer the agent

        def losses(values: Vector, first: int, stride: int) -> tuple[float, Optional[float], int]:
            peer = known()
            assert peer is not None
            with peer._current(values):
                sums = peer._sums(records, numpy.arange(first, len(records), stride, dtype=numpy.int64))
            return sums.loss, None if math.isnan(sums.correct) else sums.correct, sums.records

        return losses


__all__ = ["Agent", "Evaluation", "PrivatePeer"]
