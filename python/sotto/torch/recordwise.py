"""Models that treat every record alone by construction: sequences of layers of torch whose forward pass is known.

`unsafe_part` looks at the modules, `refuse_call` at what each of them is called with. What both let through computes row i of
its output from row i of its input alone, up to rounding: the first axis is the record's throughout, and no layer works
along it.
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import torch
from torch import nn

from .errors import ModelError

#: Whether a layer treats the first axis of an input of so many axes as the records'.
Rule = Callable[[Any, int], bool]


def _any(layer: Any, axes: int) -> bool:
    return axes >= 1


def _beside(least: int) -> Rule:
    """Layers that work on other axes than the first where the input has that many."""
    return lambda layer, axes: axes >= least


def _not_first(name: str) -> Rule:
    """Layers that work along one axis, which they name."""

    def rule(layer: Any, axes: int) -> bool:
        axis = getattr(layer, name)
        return isinstance(axis, int) and -axes <= axis < axes and axis % axes != 0

    return rule


def _flatten(layer: Any, axes: int) -> bool:
    return axes == 1 or (layer.start_dim % axes != 0 and layer.end_dim % axes != 0)


def _layer_norm(layer: Any, axes: int) -> bool:
    return axes > len(layer.normalized_shape)


def _encoder(layer: Any, axes: int) -> bool:
    """Attention within records, whose axis is the first."""
    return axes == 3 and all(part.batch_first for part in layer.modules() if isinstance(part, nn.MultiheadAttention))


def _rules() -> dict[type[nn.Module], Rule]:
    found: dict[type[nn.Module], Rule] = {nn.Sequential: _any, nn.Identity: _any, nn.Embedding: _any, nn.LayerNorm: _layer_norm,
                                          nn.Flatten: _flatten, nn.PReLU: _beside(2), nn.Linear: _beside(2),
                                          nn.GroupNorm: _beside(2), nn.RNNCell: _beside(2), nn.GRUCell: _beside(2),
                                          nn.Softmax2d: _beside(4),
                                          nn.EmbeddingBag: lambda layer, axes: axes == 2, nn.MultiheadAttention: _encoder,
                                          nn.TransformerEncoderLayer: _encoder, nn.TransformerEncoder: _encoder, nn.ModuleList: _any,
                                          nn.modules.linear.NonDynamicallyQuantizableLinear: _beside(2)}
    for layer in (nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.CELU, nn.SELU, nn.GELU, nn.SiLU, nn.Mish, nn.Sigmoid, nn.LogSigmoid,
                  nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.Hardshrink, nn.Softshrink, nn.Softplus, nn.Softsign, nn.Tanh,
                  nn.Tanhshrink, nn.Threshold, nn.Dropout, nn.AlphaDropout):
        found[layer] = _any
    for layer in (nn.Softmax, nn.LogSoftmax, nn.Softmin, nn.GLU):
        found[layer] = _not_first("dim")
    of_axes = {1: (nn.Conv1d, nn.InstanceNorm1d, nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveMaxPool1d, nn.AdaptiveAvgPool1d,
                   nn.ConstantPad1d, nn.ReflectionPad1d, nn.ReplicationPad1d),
               2: (nn.Conv2d, nn.InstanceNorm2d, nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d,
                   nn.ConstantPad2d, nn.ReflectionPad2d, nn.ReplicationPad2d, nn.ZeroPad2d, nn.BatchNorm2d, nn.Dropout2d),
               3: (nn.Conv3d, nn.InstanceNorm3d, nn.MaxPool3d, nn.AvgPool3d, nn.AdaptiveMaxPool3d, nn.AdaptiveAvgPool3d,
                   nn.ConstantPad3d, nn.ReplicationPad3d, nn.BatchNorm3d, nn.Dropout3d)}
    for axes, layers in of_axes.items():
        for layer in layers:
            found[layer] = _beside(axes + 2)
    found[nn.BatchNorm1d] = _beside(2)
    return found


_RULES = _rules()
_FORWARD = {layer: layer.forward for layer in _RULES}
_CALL = nn.Module.__call__
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _part(layer: nn.Module) -> Optional[str]:
    """What is not known about a module by itself; containers' parts apart."""
    if type(layer) not in _RULES:
        return "has a forward pass of its own, or is none of the layers that are known to treat records alone"
    if "forward" in layer.__dict__ or type(layer).forward is not _FORWARD[type(layer)] or type(layer).__call__ is not _CALL:
        return "has had its forward pass replaced"
    if getattr(layer, "_compiled_call_impl", None) is not None:
        return "is compiled"
    if any(getattr(layer, hooks, None) for hooks in _HOOKS):
        return "has hooks, or weights that are computed"
    if isinstance(layer, nn.TransformerEncoderLayer) and (
            layer.activation not in (nn.functional.relu, nn.functional.gelu) or {"_sa_block", "_ff_block"} & set(layer.__dict__)):
        return "has an activation or parts of its own"
    tensors = [*layer._parameters.values(), *layer._buffers.values()]
    if any(tensor is not None and type(tensor) not in (nn.Parameter, torch.Tensor) for tensor in tensors):
        return "has parameters of a class of their own"
    return None


def unsafe_part(model: nn.Module) -> Optional[str]:
    """The first part of a model that is not known to treat records alone, in words; None if all are. Layers that
    `checks.refuse_layers` refuses are not looked at again."""
    if any(getattr(torch.nn.modules.module, "_global" + hooks, None) for hooks in _HOOKS):
        return "hooks are set for all modules"
    for name, layer in model.named_modules():
        reason = _part(layer)
        if reason:
            return f"{f'layer {name!r}' if name else 'the model itself'} ({type(layer).__name__}) {reason}"
    return None


def refuse_call(layer: nn.Module, inputs: Any) -> None:
    """For a module about to be called.

    :raises ModelError: with these inputs it may work along the first axis.
    """
    if isinstance(layer, nn.MultiheadAttention) and all(value is inputs[0] for value in inputs):
        inputs = inputs[:1]
    if len(inputs) != 1 or not isinstance(inputs[0], torch.Tensor) or not _RULES[type(layer)](layer, inputs[0].dim()):
        shapes = ", ".join(str(tuple(value.shape)) if isinstance(value, torch.Tensor) else type(value).__name__ for value in inputs)
        raise ModelError(f"model: {type(layer).__name__} may work along the first axis of its input ({shapes}), which is the records'; "
                         "give records the axes that the layer wants, or use gradients='vectorised'")
