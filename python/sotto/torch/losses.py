"""The loss of every record, from losses that are written for batches."""
from __future__ import annotations

import copy
import functools
import inspect
from typing import Any, Callable, Optional

import torch

from .errors import ModelError

Loss = Callable[..., torch.Tensor]

_WITHIN = {"none": "sum", "sum": "sum", "batchmean": "sum", "mean": "mean"}


def _mixes_by_weights(loss: Any, reduction: str) -> bool:
    """Whether a mean is over weights of classes, so that a record's share depends on the classes of others."""
    if isinstance(loss, (torch.nn.NLLLoss, torch.nn.CrossEntropyLoss)):
        return reduction == "mean" and loss.weight is not None
    if isinstance(loss, functools.partial) and loss.func in (torch.nn.functional.nll_loss, torch.nn.functional.cross_entropy):
        return reduction == "mean" and loss.keywords.get("weight") is not None
    return False


class RecordLoss:
    """Losses of the records of a batch, one number each: that of a batch which holds this record only.

    Known are modules with a `reduction` (torch.nn.CrossEntropyLoss() and its like) and functions with a `reduction`
    argument (torch.nn.functional.cross_entropy): they are asked for "none". What a record has beyond one number (of a
    sequence, of several outputs) is averaged where the reduction was "mean", and added where it was "sum" or "none".
    Any other callable is called for one record at a time, on slices of length one.

    :raises ModelError: the loss has trainable parameters, an unknown reduction, or is a weighted mean over the batch.
    """

    def __init__(self, loss: Loss, device: torch.device) -> None:
        self._single: Optional[Loss] = None
        self._elements: Optional[Loss] = None
        if isinstance(loss, torch.nn.Module) and any(p.requires_grad for p in loss.parameters()):
            raise ModelError("loss: it has trainable parameters; make them parameters of the model")
        reduction = self._reduction(loss)
        if reduction is None:
            self._single = loss
            if isinstance(loss, torch.nn.Module):
                loss.to(device)
            return
        if reduction not in _WITHIN:
            raise ModelError(f"loss: reduction '{reduction}'; it must be 'none', 'sum' or 'mean'")
        if _mixes_by_weights(loss, reduction):
            raise ModelError("loss: with class weights, reduction 'mean' divides by the weights of all records of a batch; "
                             "use reduction='sum' or 'none'")
        self._mean = _WITHIN[reduction] == "mean"
        if isinstance(loss, torch.nn.Module):
            elements = copy.copy(loss)
            elements.reduction = "none"
            self._elements = elements.to(device)
        else:
            self._elements = functools.partial(loss, reduction="none")

    @staticmethod
    def _reduction(loss: Loss) -> Optional[str]:
        """Name of the reduction, None of a loss that has none."""
        if isinstance(loss, torch.nn.Module):
            # Modules of torch mean what they say; those of others may not heed a changed attribute.
            known = type(loss).__module__.startswith("torch.")
            return str(loss.reduction) if known and hasattr(loss, "reduction") else None
        try:
            argument = inspect.signature(loss).parameters.get("reduction")
        except (TypeError, ValueError):
            return None
        return str(argument.default) if argument is not None else None

    def __call__(self, outputs: Any, targets: torch.Tensor, records: int) -> torch.Tensor:
        """Losses of `records` records, shape (records,); the first axis of outputs and targets is the record's.

        :raises ModelError: the loss has not one number, or one row, for every record.
        """
        if self._elements is not None:
            values = self._elements(outputs, targets)
            if values.dim() == 0 or values.shape[0] != records:
                raise ModelError(f"loss: shape {tuple(values.shape)} for {records} records; its first axis must be the records'")
            values = values.reshape(records, -1)
            return values.mean(1) if self._mean else values.sum(1)
        assert self._single is not None
        losses = [self._single(part(outputs, i), targets[i:i + 1]) for i in range(records)]
        for value in losses:
            if not isinstance(value, torch.Tensor) or value.numel() != 1:
                raise ModelError(f"loss: {value!r} for one record; it must be a tensor of one number")
        return torch.stack([value.reshape(()) for value in losses])


def part(outputs: Any, record: int) -> Any:
    """Outputs of one record, as a batch of one: tensors, or lists, tuples and dictionaries of them."""
    if isinstance(outputs, torch.Tensor):
        return outputs[record:record + 1]
    if isinstance(outputs, dict):
        return type(outputs)({key: part(value, record) for key, value in outputs.items()})
    if isinstance(outputs, (list, tuple)):
        return type(outputs)([part(value, record) for value in outputs])
    raise ModelError(f"model: output of type {type(outputs).__name__}; it must be tensors, or lists, tuples or dictionaries of them")
