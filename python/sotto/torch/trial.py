"""A model, a loss and data made ready for PrivatePeer, and tried on three records before anything is agreed with others."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy
import torch

from .adapted import Adapted, Forward, scores
from .checks import Checks, FixedBuffers, Modes
from .collated import Collated, Items
from .data import Batch, Records, spread
from .errors import ModelError
from .flat import FlatParameters
from .gradients import FAILURES, first_line
from .losses import Loss, RecordLoss

_RECORDS = 3


class Prepared(NamedTuple):
    """What PrivatePeer gets: module, loss and records. `adapted` is the module if it is not the user's own."""

    module: torch.nn.Module
    loss: Loss
    records: Any
    adapted: Optional[Adapted]

    def of(self, data: Any) -> Any:
        """Other data as these records are."""
        return data if self.adapted is None else Collated(Items(data))


def own_losses(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The loss of an adapted model, which has computed it."""
    return outputs


def prepare(model: torch.nn.Module, loss: Optional[Loss], data: Any, forward: Optional[Forward], device: torch.device) -> Prepared:
    """Chooses how batches reach the model, and tries it. Moves the model to the device. LOCAL.

    :raises ModelError: data, model and loss do not fit, or records mix.
    """
    if loss is None and forward is None and not hasattr(model, "config"):
        raise ModelError("loss: not given; give loss=f(outputs, targets), such as torch.nn.CrossEntropyLoss(), or forward=lambda model, batch: loss")
    if loss is not None and forward is not None:
        raise ModelError("loss: given with forward, which has the loss itself; give one of them")
    items = Items(data)
    if len(items) == 0:
        raise ModelError("data: no records; at least one is needed")
    model.to(device)
    if loss is not None and forward is None and items.collate is None and _takes_as_it_is(model, items, device):
        found = Prepared(model, loss, data, None)
    else:
        collated = Collated(items)
        adapted = Adapted(model, None if loss is None else RecordLoss(loss, device), forward, collated.structure)
        found = Prepared(adapted, own_losses, collated, adapted)
    _try(found, device)
    return found


def _takes_as_it_is(model: torch.nn.Module, items: Items, device: torch.device) -> bool:
    """Whether the model takes batches (input, ..., target) of tensors of any size, and gives tensors with a row for each record."""
    try:
        batch = Records(items.dataset, device).batch(spread(len(items), 1))
        with torch.no_grad(), torch.random.fork_rng():
            one = model(*batch.inputs)
            two = model(*batch.copies([0, 0]).inputs)
    except (*FAILURES, ModelError):
        return False
    if not isinstance(one, torch.Tensor):
        return scores(one) is one and isinstance(one, (dict, list, tuple))
    return isinstance(two, torch.Tensor) and two.shape[:1] == (2,) and one.shape == (1, *two.shape[1:])


def _try(found: Prepared, device: torch.device) -> None:
    records = Records(found.records, device)
    loss = RecordLoss(found.loss, device)
    modes, buffers, flat = Modes(found.module), FixedBuffers(found.module), FlatParameters(found.module)
    checks = Checks(found.module, loss, flat, modes)
    batch = records.batch(spread(len(records), _RECORDS))
    with checks.moved_parameters():
        if found.adapted is not None:
            found.adapted.learn(records.batch(numpy.zeros(1, numpy.int64)).inputs)
        try:
            _refuse_company(found, loss, batch, modes)
            checks.refuse_mixing(batch)
        except FAILURES as error:
            if isinstance(error, ModelError):
                raise
            remedy = ("give torch.utils.checkpoint.checkpoint use_reentrant=False" if "Checkpointing is not compatible" in str(error) else
                      "it must take batches of any size")
            raise ModelError(f"model: a pass of {batch.records} records fails: {first_line(error)}; {remedy}") from error
    buffers.check()


def _refuse_company(found: Prepared, loss: RecordLoss, batch: Batch, modes: Modes) -> None:
    """Refuses a loss of whole batches that is not one of its records: neither their mean, with any weights, nor their sum."""
    with modes.evaluating(), torch.no_grad(), torch.random.fork_rng():
        if found.adapted is not None:
            whole = found.adapted.loss_of_all(batch.inputs)
        else:
            whole = loss.of_all(found.module(*batch.inputs), batch.targets)
        if whole is None:
            return
        alone, again = (torch.cat([loss(found.module(*one.inputs), one.targets, 1) for one in map(batch.record, range(batch.records))])
                        for _ in range(2))
    if not torch.equal(alone, again):
        return  # it draws random numbers in eval() too
    slack = 1e-3 * (float(alone.abs().max()) + 1e-6)
    within = float(alone.min()) - slack <= whole <= float(alone.max()) + slack
    if not within and not abs(whole - float(alone.sum())) <= slack * batch.records:
        raise ModelError(
            f"loss: of {batch.records} records together it is {whole:.4g}, which is neither a mean nor the sum of those of single records "
            f"({', '.join(f'{value:.4g}' for value in alone.tolist())}): it needs the other records of a batch, as with negatives from the "
            "batch; use a loss of one record, with negatives from its own data or a public set")
