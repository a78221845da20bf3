"""What would be refused in a model, and a copy of it that is not."""
from __future__ import annotations

import copy
from typing import Any, NamedTuple, Optional

import torch
from torch import nn

from .adapted import Forward
from .checks import layer_refusal
from .errors import ModelError
from .losses import Loss
from .threads import default_device
from .trial import prepare


class Refusal(NamedTuple):
    """A part that would be refused, why, and what to do."""

    part: str
    why: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.part}: {self.why}; {self.remedy}"


def _refusal_of(message: str) -> Refusal:
    part, _, rest = message.partition(": ")
    why, _, remedy = rest.partition("; ")
    return Refusal(part, why, remedy)


def check(model: nn.Module, loss: Optional[Loss] = None, data: Any = None, *, forward: Optional[Forward] = None) -> list[Refusal]:
    """What `make_private` would refuse, an empty list if nothing. LOCAL.

    Layers are looked at by their kind. If there are none to refuse and data are given, a copy of the model is tried on three
    records, as `make_private` does.

    :param loss, data, forward: as of `make_private`; without data, and loss or forward, only layers are looked at.
    """
    found = [Refusal(f"layer '{name or 'model'}'", f"{type(layer).__name__} {reason.partition('; ')[0]}", reason.partition("; ")[2])
             for name, layer in model.named_modules() for reason in [layer_refusal(layer)] if reason]
    if not found and data is not None:
        try:
            prepare(copy.deepcopy(model), loss, data, forward, default_device())
        except ModelError as error:
            found.append(_refusal_of(str(error)))
    return found


def refuse_layers_of(model: nn.Module) -> None:
    """:raises ModelError: a layer is refused by its kind; the first is named, and how many more there are."""
    found = check(model)
    if found:
        more = f" ({len(found) - 1} more layers: sotto.torch.check(model) lists them)" if len(found) > 1 else ""
        raise ModelError(f"model: {found[0].part}: {found[0].why}; {found[0].remedy}{more}; sotto.torch.fix(model) returns a repaired copy")


def fix(model: nn.Module) -> nn.Module:
    """A copy of a model without layers that `make_private` refuses. LOCAL.

    BatchNorm and SyncBatchNorm that mix records become GroupNorm, with the largest number of groups up to 32 that divides the
    channels and leaves at least four in each (or one group), and keep weight and bias. InstanceNorm keeps no statistics,
    layers that work in place do not, Embedding has no max_norm, scale_grad_by_freq or sparse gradients, and DataParallel
    gives way to the model inside. A GroupNorm is not the same function: train the repaired model from new.
    """
    return _fixed(copy.deepcopy(model), {})


def _fixed(layer: nn.Module, known: dict[int, nn.Module]) -> nn.Module:
    if id(layer) not in known:
        known[id(layer)] = found = _replaced(layer)
        for name, child in found.named_children():
            setattr(found, name, _fixed(child, known))
    return known[id(layer)]


def _replaced(layer: Any) -> nn.Module:
    if isinstance(layer, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
        layer = layer.module
    if layer_refusal(layer):
        if isinstance(layer, nn.modules.instancenorm._InstanceNorm):
            layer.track_running_stats = False
            layer.running_mean = layer.running_var = layer.num_batches_tracked = None
        elif isinstance(layer, nn.modules.batchnorm._BatchNorm):
            return _group_norm(layer)
        else:
            layer.max_norm, layer.scale_grad_by_freq, layer.sparse = None, False, False
    if getattr(layer, "inplace", False) is True:
        layer.inplace = False
    return layer  # type: ignore[no-any-return]


def _group_norm(layer: Any) -> nn.GroupNorm:
    channels = int(layer.num_features)
    groups = max(groups for groups in range(1, min(32, max(1, channels // 4)) + 1) if channels % groups == 0)
    found = nn.GroupNorm(groups, channels, eps=layer.eps, affine=layer.affine)
    if layer.affine:
        with torch.no_grad():
            found.weight.copy_(layer.weight)
            found.bias.copy_(layer.bias)
        found.to(layer.weight)
        found.requires_grad_(layer.weight.requires_grad)
    return found.train(layer.training)
