"""The loss of every record, from losses that are written for batches."""
from __future__ import annotations

import copy
import functools
import inspect
from typing import Any, Callable, Optional

import torch
import torch.nn.functional as functional

from .errors import ModelError

Loss = Callable[..., torch.Tensor]

_WITHIN = {"none": "sum", "sum": "sum", "batchmean": "sum", "mean": "mean"}

# Losses of classes: their mean is over the positions whose target counts, and over their weights.
_OF_CLASSES: tuple[Any, ...] = (torch.nn.CrossEntropyLoss, torch.nn.NLLLoss, functional.cross_entropy, functional.nll_loss)
# Losses of numbers: one for every number of outputs and targets of the same shape.
_OF_NUMBERS: tuple[Any, ...] = (
    torch.nn.MSELoss, torch.nn.L1Loss, torch.nn.SmoothL1Loss, torch.nn.HuberLoss, torch.nn.BCELoss, torch.nn.BCEWithLogitsLoss,
    torch.nn.KLDivLoss, torch.nn.PoissonNLLLoss, torch.nn.SoftMarginLoss,
    functional.mse_loss, functional.l1_loss, functional.smooth_l1_loss, functional.huber_loss, functional.binary_cross_entropy,
    functional.binary_cross_entropy_with_logits, functional.kl_div, functional.poisson_nll_loss, functional.soft_margin_loss)


def _kind(loss: Any) -> Any:
    """What a loss is: its exact class of torch, or torch's function, whose arguments a partial may set."""
    while isinstance(loss, functools.partial) and not loss.args:
        loss = loss.func
    return type(loss) if isinstance(loss, torch.nn.Module) else loss


def _is_torchs(loss: Any) -> bool:
    """Whether torch has written it: losses of others may not heed a changed reduction."""
    return str(getattr(_kind(loss), "__module__", "")).split(".")[0] == "torch"


def _setting(loss: Any, name: str, usual: Any) -> Any:
    """An attribute of a module, or an argument that a partial sets."""
    if isinstance(loss, torch.nn.Module):
        return getattr(loss, name, usual)
    while isinstance(loss, functools.partial):
        if name in loss.keywords:
            return loss.keywords[name]
        loss = loss.func
    return usual


def _reduction(loss: Any) -> Optional[str]:
    """Name of the reduction of a loss of torch, None of one that has none, or is not torch's."""
    if not _is_torchs(loss):
        return None
    if isinstance(loss, torch.nn.Module):
        return str(loss.reduction) if hasattr(loss, "reduction") else None
    try:
        argument = inspect.signature(loss).parameters.get("reduction")
    except (TypeError, ValueError):
        return None
    return str(argument.default) if argument is not None else None


class RecordLoss:
    """Losses of the records of a batch, one number each: that of a batch which holds this record only.

    Known are modules of torch with a `reduction` (torch.nn.CrossEntropyLoss() and its like) and functions of torch with a
    `reduction` argument (torch.nn.functional.cross_entropy), also in a functools.partial with keywords: they are asked for
    "none". What a record has beyond one number (of a sequence, of several outputs) is averaged where the reduction was
    "mean", and added where it was "sum" or "none". The mean of a loss of classes is over the positions that count, those
    whose target is not `ignore_index`, each with the weight of its class where there are weights; a record in which none
    counts has the loss zero. Any other callable is called for one record at a time, on slices of length one.

    :raises ModelError: the loss has trainable parameters, or an unknown reduction.
    """

    def __init__(self, loss: Loss, device: torch.device) -> None:
        self._single: Optional[Loss] = None
        self._elements: Optional[Loss] = None
        self._kind = _kind(loss)
        #: Targets of classes that do not count.
        self.ignored = int(_setting(loss, "ignore_index", -100)) if self._kind in _OF_CLASSES else -100
        self._own_weights = any(_setting(loss, name, None) is not None for name in ("weight", "pos_weight"))
        if isinstance(loss, torch.nn.Module) and any(p.requires_grad for p in loss.parameters()):
            raise ModelError("loss: it has trainable parameters; make them parameters of the model")
        reduction = _reduction(loss)
        if reduction is None:
            self._single = loss
            if isinstance(loss, torch.nn.Module):
                loss.to(device)
            return
        if reduction not in _WITHIN:
            raise ModelError(f"loss: reduction '{reduction}'; it must be 'none', 'sum' or 'mean'")
        self._mean = _WITHIN[reduction] == "mean"
        weight = _setting(loss, "weight", None)
        self._weight = None if weight is None else weight.to(device)
        if isinstance(loss, torch.nn.Module):
            elements = copy.copy(loss)
            elements.reduction = "none"
            self._elements = elements.to(device)
        else:
            self._elements = functools.partial(loss, reduction="none")

    def unsafe_part(self) -> Optional[str]:
        """What keeps it from being known to compute a record's loss from the record's outputs and target alone, None if nothing."""
        if self._single is not None or self._kind in _OF_CLASSES:
            return None  # one record at a time; one row at a time
        name = getattr(self._kind, "__name__", str(self._kind))
        if self._kind not in _OF_NUMBERS:
            return f"the loss {name} is none of those that are known to treat records alone"
        return f"the weights of {name} may be those of places in the batch" if self._own_weights else None

    def double(self) -> RecordLoss:
        """The same in double precision. :raises Exception: what cannot be copied."""
        found = copy.copy(self)
        for name in ("_single", "_elements"):
            part = getattr(found, name)
            if isinstance(part, torch.nn.Module):
                setattr(found, name, copy.deepcopy(part).double())
            elif isinstance(part, functools.partial):
                setattr(found, name, functools.partial(part.func, *part.args, **{
                    key: _as_double(value) for key, value in part.keywords.items()}))
        if found._elements is not None and found._weight is not None:
            found._weight = _as_double(found._weight)
        return found

    def _mean_of_classes(self, values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Sums over the positions of each record (records, positions) by those that count, or by the sum of their weights."""
        targets = targets.reshape(values.shape)
        counts = targets != self.ignored
        if self._weight is None:
            shares = counts.to(values.dtype)
        else:
            if values.shape[1] == 1:
                raise ModelError("loss: with class weights, reduction 'mean' divides a record's loss by its own weight, which leaves "
                                 "none, or by the weights of all records of a batch; use reduction='sum' or 'none'")
            shares = self._weight[targets * counts].to(values.dtype) * counts
        total = shares.sum(1)
        return values.sum(1) / torch.where(total > 0, total, torch.ones_like(total))

    def _of_elements(self, outputs: Any, targets: torch.Tensor) -> torch.Tensor:
        """The loss with reduction "none"; targets that do not count have the class 0 and the loss zero, since functorch of torch
        1.13 would look up the loss of class `ignore_index`."""
        assert self._elements is not None
        if self._kind not in _OF_CLASSES or targets.is_floating_point():
            return self._elements(outputs, targets)
        counts = targets != self.ignored
        values = self._elements(outputs, torch.where(counts, targets, torch.zeros_like(targets)))
        return torch.where(counts, values, torch.zeros_like(values)) if values.shape == counts.shape else values

    def __call__(self, outputs: Any, targets: torch.Tensor, records: int) -> torch.Tensor:
        """Losses of `records` records, shape (records,); the first axis of outputs and targets is the record's.

        :raises ModelError: the loss has not one number, or one row, for every record; or it is a mean over class weights for
            records of one target.
        """
        if self._elements is not None:
            if self._kind in _OF_NUMBERS and isinstance(outputs, torch.Tensor) and outputs.shape != targets.shape:
                raise ModelError(f"loss: outputs of shape {tuple(outputs.shape)} and targets of shape {tuple(targets.shape)}; they "
                                 "must have the same shape, or all records are compared with all")
            values = self._of_elements(outputs, targets)
            if values.dim() == 0 or values.shape[0] != records:
                raise ModelError(f"loss: shape {tuple(values.shape)} for {records} records; its first axis must be the records'")
            shape, values = values.shape, values.reshape(records, -1)
            if not self._mean:
                return values.sum(1)
            # Targets that are probabilities all count.
            of_classes = self._kind in _OF_CLASSES and not targets.is_floating_point() and targets.shape == shape
            return self._mean_of_classes(values, targets) if of_classes else values.mean(1)
        return torch.cat([self.of_one(part(outputs, i), targets[i:i + 1]) for i in range(records)])

    def of_all(self, outputs: Any, targets: Any) -> Optional[float]:
        """What a callable that is not torch's gives for a whole batch; None where that is no single number, or it fails."""
        if self._single is None:
            return None
        try:
            value = self._single(outputs, targets)
        except Exception:  # it may be meant for single records
            return None
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None

    def of_one(self, outputs: Any, targets: Any) -> torch.Tensor:
        """The loss of a batch of one record, shape (1,), by a callable that is not torch's; targets as the callable takes them.

        :raises ModelError: it gives no tensor of one number.
        """
        if self._single is None:
            raise ModelError(f"loss: targets of type {type(targets).__name__}; a loss of torch takes a tensor (give loss=f(outputs, targets), "
                             "or forward=lambda model, batch: loss)")
        value = self._single(outputs, targets)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            raise ModelError(f"loss: {value!r} for one record; it must be a tensor of one number")
        return value.reshape(1)


def _as_double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def part(outputs: Any, record: int) -> Any:
    """Outputs of one record, as a batch of one: tensors, or lists, tuples and dictionaries of them."""
    if isinstance(outputs, torch.Tensor):
        return outputs[record:record + 1]
    if isinstance(outputs, dict):
        return type(outputs)({key: part(value, record) for key, value in outputs.items()})
    if isinstance(outputs, (list, tuple)):
        return type(outputs)([part(value, record) for value in outputs])
    raise ModelError(f"model: output of type {type(outputs).__name__}; it must be tensors, or lists, tuples or dictionaries of them")
