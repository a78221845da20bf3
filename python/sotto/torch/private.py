"""The shortest way in: a model, a loss and data as one private agent."""
from __future__ import annotations

from typing import Any, Callable, Mapping, Optional

import torch

import sotto
from sotto.agents import _stop_all_on_errors
from sotto.errors import ConfigError

from .adapted import Forward
from .data import Records, Rows
from .errors import ModelError
from .flat import dimension, parameters, trainable
from .losses import Loss
from .metrics import Evaluation, Gathered, Metrics, right_classes
from .peer import PrivatePeer, _EVALUATED_AT_ONCE, _Sums
from .persons import Persons, Unit, name_of, split_off
from .ranks import require_same_model, together
from .repair import refuse_layers_of
from .threads import default_device
from .translate import options_of_optimizer, rounds_of_epoch, schedule_of, translated
from .trial import Prepared, prepare


class Peer(PrivatePeer):
    """What `make_private` returns: a PrivatePeer that takes batches of any structure, and knows metrics.

    `model` and `state_dict()` are the user's own model's.
    """

    def __init__(self, model: torch.nn.Module, prepared: Prepared, agent: Any, metrics: Metrics, epoch_rounds: Optional[int],
                 test: Any, **settings: Any) -> None:
        self._own = model
        self._prepared = prepared
        self._metrics = metrics
        self._gathered: Optional[Gathered] = None
        self._epoch_rounds = epoch_rounds
        super().__init__(prepared.module, prepared.loss, prepared.records, agent, test, **settings)

    @property
    def agent(self) -> Any:
        """The `sotto.Agent`: its ledger, directory, and what docs/python.md says."""
        return self._agent

    @property
    def model(self) -> torch.nn.Module:
        """The user's model with the agent's current parameters. What is written into them is lost with the next round."""
        self._load(self._agent.model)
        return self._own

    def evaluate(self, dataset: Any) -> Evaluation:
        """Mean loss, accuracy (NaN where targets are no classes), and metrics of the current model in eval(). LOCAL.

        The figures come from raw data: they are not private outputs.

        :param dataset: as the training data, or a DataLoader of such.
        :raises ModelError: the data set has no records, or metrics get no tensors.
        """
        self._gathered = Gathered(self._metrics) if self._metrics else None
        try:
            found = super().evaluate(dataset)
            return found if self._gathered is None else found._replace(metrics=self._gathered.evaluate())
        finally:
            self._gathered = None

    def _records_of(self, dataset: Any) -> Records:
        return Records(dataset if dataset is self._prepared.records else self._prepared.of(dataset), self.device)

    def _release(self) -> None:
        super()._release()
        self._prepared = self._prepared._replace(records=None)

    def _sums(self, records: Records, rows: Rows) -> _Sums:
        adapted = self._prepared.adapted
        if adapted is None and self._gathered is None:
            return super()._sums(records, rows)
        loss, correct = 0.0, 0.0
        for first in range(0, len(rows), _EVALUATED_AT_ONCE):
            batch = records.batch(rows[first:first + _EVALUATED_AT_ONCE])
            if adapted is None:
                outputs, targets = self._model(*batch.inputs), batch.targets
                losses = self._loss(outputs, targets, batch.records)
            else:
                losses, outputs, targets = adapted.found(batch.inputs)
            loss += float(losses.sum(dtype=torch.float64))
            correct += _right(outputs, targets, (self._loss if adapted is None else adapted).ignored)
            if self._gathered is not None:
                self._gathered.add(outputs, targets)
        return _Sums(loss, correct, len(rows))


def _right(outputs: Any, targets: Any, ignored: int) -> float:
    """The number of right records; NaN where targets are no classes."""
    pairs = zip(outputs, targets) if isinstance(targets, list) else [(outputs, targets)]
    found = [right_classes(one, target, ignored) for one, target in pairs]
    return sum(float("nan") if right is None else float(right.sum()) for right in found)


def make_private(model: torch.nn.Module, *, data: Any, loss: Optional[Loss] = None, forward: Optional[Forward] = None,
                 epsilon: Optional[float] = None, delta: Optional[float] = None, epochs: Optional[int] = None,
                 batch_size: Any = None, max_grad_norm: Optional[float] = None,
                 optimizer: Optional[torch.optim.Optimizer] = None, lr_scheduler: Any = None, test: Any = None,
                 metrics: Optional[Mapping[str, Callable[[Any, Any], Any]]] = None, tune: Optional[str] = None,
                 adjacency: str = "record-add-remove", comm: Any = None, records: Optional[int] = None,
                 resume: Optional[str] = None, micro_batch: Optional[int] = None,
                 device: Optional[torch.device | str] = None, gradients: str = "auto", threads: Optional[int] = None,
                 seed: Optional[int] = None, unit: Optional[Unit] = None, unit_name: Optional[str] = None, unit_records: int = 0,
                 **options: Any) -> Peer:
    """Makes a model private: this process is one agent of all that mpirun started, or the only one. COLLECTIVE.

        peer = sotto.torch.make_private(model, loss=torch.nn.CrossEntropyLoss(), data=shard, epsilon=2)
        peer.train()

    Every rank makes the same model and gives its own records. Whatever is wrong on some rank is raised on all before anything
    that depends on data is sent.

    :param model: trained where it is, from the values that it has. float32 models send float32 unless `precision` is given.
    :param data: this agent's records: a map-style Dataset, or a DataLoader, of which the data set, collate_fn and workers are
        taken (and batch_size, as the expected one, with `epochs` alone), not its sampler. A batch is (input, ..., target), or a
        dictionary with "labels" (or label, targets, target, y) and arguments of the model by name.
    :param loss: loss(outputs, targets), as of PrivatePeer. Outputs with an attribute `logits` are these. None: `forward` has
        it, or the model's outputs do as `.loss` if it is called with the whole batch.
    :param forward: forward(model, batch) -> losses of the records of a batch, or the loss of a batch of one record; a pair of
        this and outputs, for accuracy and metrics; or outputs with `.loss` (and `.logits`).
    :param epsilon, delta: what is revealed of a record at most (target_epsilon and target_delta mean the same).
    :param epochs: records over batch_size times as many rounds; needs batch_size, or a DataLoader, whose batch_size is taken.
    :param max_grad_norm: the clip, L2 (clip_norm means the same).
    :param optimizer: torch.optim.SGD, whose lr, momentum or weight_decay become step_size, momentum or l2. Its own step() is
        refused from then on.
    :param lr_scheduler: of this optimiser, as stepped after every epoch.
    :param test: records for evaluations.  :param metrics: {name: f(outputs, targets)}, for `evaluate`.
    :param tune: "auto" chooses what is not given of rounds, batch, clip and step; the default where a record is protected.
    :param comm: communicator of mpi4py; None: MPI.COMM_WORLD under a launcher, otherwise one process.
    :param records: None, or the length of the data.
    :param resume: a run directory that a stopped run left: goes on with its options.
    :param micro_batch, device, gradients, threads, seed: as of sotto.Agent and PrivatePeer.
    :param unit: protects everything that this agent has of one person together, as --unit-column does: one integer for each record,
        which says whose it is, or the name of a column (a key of records that are dictionaries, which the model then does not
        get). Batches, epochs and `records` of the plan count persons.
    :param unit_name: what the ledger calls a person; None: the column's name, or "person".
    :param unit_records: at most so many of a person's records in one gradient, drawn anew each time; 0: all.
    :param options: as of sotto.Agent.
    :raises ModelError: a model, loss or data that cannot be trained privately, with what to use instead; the same on all ranks.
    :raises ConfigError: options, or an optimiser, that are not possible.
    """
    comm = sotto.communicator() if comm is None else comm
    comm = None if comm is None or comm.Get_size() == 1 else comm
    _stop_all_on_errors(comm)
    place = default_device() if device is None else torch.device(device)
    if batch_size is None and epochs is not None and isinstance(data, torch.utils.data.DataLoader):
        batch_size = data.batch_size
    options |= {"epsilon": epsilon, "delta": delta, "batch_size": batch_size, "max_grad_norm": max_grad_norm, "tune": tune, "resume": resume}
    person = name_of(unit, unit_name)
    unit, data = together(comm, lambda: split_off(unit, data))
    prepared, wanted = together(comm, lambda: (
        ready(model, loss, data, forward, records, place), wanted_options(options, optimizer, adjacency, model)))
    require_same_model(comm, model)
    count = together(comm, lambda: rows_of(prepared, unit, unit_records, adjacency, place))
    mean_count = _mean(comm, count)
    together(comm, lambda: add_rounds(wanted, epochs, mean_count, optimizer, lr_scheduler))
    agent = sotto.Agent(comm, dimension(model), records=count, initial=parameters(model), micro_batch=micro_batch,
                        person=person, **wanted)
    if optimizer is not None:
        refuse_steps(optimizer)
    epoch_rounds = max(1, round(mean_count / _mean(comm, agent.batch_size)))
    return Peer(model, prepared, agent, metrics or {}, epoch_rounds, test, device=place, gradients=gradients, threads=threads, seed=seed,
                unit=unit, unit_records=unit_records)


def refuse_steps(optimizer: torch.optim.Optimizer) -> None:
    """Makes its step() raise."""
    setattr(optimizer, "step", _refuse_step)


def _refuse_step(*_: Any, **__: Any) -> None:
    raise ModelError("optimizer: step() would train the model without privacy; call peer.step() in place of zero_grad(), "
                     "loss.backward() and optimizer.step()")


setattr(_refuse_step, "_with_counter", True)  # torch's schedulers leave it as it is


def _mean(comm: Any, number: float) -> float:
    """The mean of a public number over ranks. COLLECTIVE."""
    return number if comm is None else float(comm.allreduce(number)) / int(comm.Get_size())


def ready(model: torch.nn.Module, loss: Optional[Loss], data: Any, forward: Optional[Forward], records: Optional[int],
           device: torch.device) -> Prepared:
    refuse_layers_of(model)
    trainable(model)
    prepared = prepare(model, loss, data, forward, device)
    count = len(Records(prepared.records, device))
    if records is not None and records != count:
        raise ModelError(f"records: {records}; the data have {count}, so leave records out or give {count}")
    return prepared


def rows_of(prepared: Prepared, unit: Optional[Unit], unit_records: int, adjacency: str, device: torch.device) -> int:
    """What sotto draws from: records, or persons.

    :raises ModelError: a unit that does not fit, or where an agent is protected as a whole.
    """
    records = len(Records(prepared.records, device))
    if unit is None:
        if unit_records != 0:
            raise ModelError(f"unit_records: {unit_records} has no meaning without unit, which says whose each record is")
        return records
    if adjacency.startswith("agent"):
        raise ModelError(f"unit: not possible with adjacency {adjacency}, which protects all data of an agent together; use "
                         "adjacency='record-add-remove'")
    return len(Persons(unit, records, unit_records))


def wanted_options(options: dict[str, Any], optimizer: Optional[torch.optim.Optimizer], adjacency: str, model: torch.nn.Module) -> dict[str, Any]:
    """Options of sotto.Agent; those of a resumed run are its own."""
    wanted = translated(options)
    if "resume" in wanted:
        return wanted
    if optimizer is not None:
        wanted = {**options_of_optimizer(optimizer, model), **wanted}
    _complete(wanted, adjacency, model)
    return wanted


def _complete(options: dict[str, Any], adjacency: str, model: torch.nn.Module) -> None:
    """Adds what follows from others. :raises ConfigError: nobody said how much may be revealed."""
    options.setdefault("adjacency", adjacency)
    if "epsilon" not in options and options.get("mechanism") != "none" and not {"noise_std", "budgets", "plan"} & options.keys():
        raise ConfigError("epsilon: not given; say how much a record may reveal, such as epsilon=2 (and delta, default 1e-5)")
    if not adjacency.startswith("agent") and options.get("mechanism") != "none":
        options.setdefault("tune", "auto")
    if trainable(model)[0].dtype == torch.float32:
        options.setdefault("precision", "float32")


def add_rounds(options: dict[str, Any], epochs: Optional[int], records: float, optimizer: Optional[torch.optim.Optimizer],
                lr_scheduler: Any) -> None:
    """Rounds that epochs are, and the schedule of steps."""
    if "resume" in options:
        return
    if epochs is None and lr_scheduler is None:
        return
    if epochs is not None and "rounds" in options:
        raise ConfigError(f"epochs: {epochs}, and rounds: {options['rounds']}; give one of them")
    if epochs is not None and "batch_size" not in options:
        raise ConfigError(f"epochs: {epochs} needs batch_size, since an epoch is records / batch_size rounds (or leave epochs out: tune='auto' "
                          "chooses rounds and batches)")
    length = rounds_of_epoch(options.get("batch_size", "all"), records)
    if epochs is not None:
        options["rounds"] = epochs * length
    if lr_scheduler is not None:
        options["step_schedule"] = schedule_of(lr_scheduler, optimizer, epochs, length)
