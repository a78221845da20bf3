"""Gradients of every record by a layer's parameters, from its inputs and the slopes of its outputs.

A rule is a function `rule(layer, inputs, slopes, rows)`: `inputs` are the tensors a layer was called with, `slopes` the
derivatives of the summed losses by its outputs; the first axis of all is the record's (B records). It gives `rows` the
gradients of its parameters, of shape (B, *parameter.shape).
"""
from __future__ import annotations

from typing import Any, Callable, Optional

import torch
import torch.nn.functional as functional
import torch.nn.grad

from .flat import FlatParameters

Tensors = tuple[torch.Tensor, ...]


class GradientRows:
    """A matrix with the gradient of a record in each row, filled parameter by parameter. What is given twice adds up."""

    def __init__(self, matrix: torch.Tensor, flat: FlatParameters) -> None:
        self._matrix = matrix
        self._flat = flat
        self._filled: set[int] = set()

    def wants(self, parameter: Optional[torch.Tensor]) -> bool:
        """Whether this parameter is trained."""
        return parameter is not None and self._flat.holds(parameter)

    def _columns(self, parameter: torch.Tensor) -> tuple[torch.Tensor, bool]:
        """Columns of a parameter (B, *parameter.shape), and whether they hold something already."""
        columns = self._matrix[:, self._flat.place(parameter)]
        filled = id(parameter) in self._filled
        self._filled.add(id(parameter))
        return columns.view(len(columns), *parameter.shape), filled

    def add(self, parameter: torch.Tensor, values: torch.Tensor) -> None:
        """Adds values of shape (B, *parameter.shape)."""
        columns, filled = self._columns(parameter)
        if filled:
            columns += values
        else:
            columns.copy_(values)

    def add_product(self, parameter: torch.Tensor, slope: torch.Tensor, value: torch.Tensor) -> None:
        """Adds what a product with a matrix (out x in) gives: slope (B, ..., out), value (B, ..., in)."""
        columns, filled = self._columns(parameter)
        if slope.dim() > 2:
            slope, value = slope.flatten(1, -2), value.flatten(1, -2)
            product = torch.bmm(slope.transpose(1, 2), value)
            columns.add_(product) if filled else columns.copy_(product)
        elif filled:
            columns.addcmul_(slope.unsqueeze(2), value.unsqueeze(1))
        else:
            torch.mul(slope.unsqueeze(2), value.unsqueeze(1), out=columns)

    def add_rows(self, parameter: torch.Tensor, index: torch.Tensor, values: torch.Tensor) -> None:
        """Adds values (B, k, width) to the rows index (B, k) of a parameter with rows of this width."""
        columns, filled = self._columns(parameter)
        if not filled:
            columns.zero_()
        record = torch.arange(len(index), device=index.device).unsqueeze(1).expand_as(index)
        columns.index_put_((record, index), values, accumulate=True)

    def close(self) -> None:
        """Parameters that were given nothing have no effect on the losses: zeros."""
        for parameter in self._flat.parameters:
            if id(parameter) not in self._filled:
                self._columns(parameter)[0].zero_()


Rule = Callable[[Any, Tensors, Tensors, GradientRows], None]


def _over_middle(values: torch.Tensor, kept: int) -> torch.Tensor:
    """Sum over all axes but the first and the last `kept`."""
    return values.reshape(values.shape[0], -1, *values.shape[values.dim() - kept:]).sum(1)


def _over_positions(values: torch.Tensor) -> torch.Tensor:
    """Sum over all axes but records and channels."""
    return values.flatten(2).sum(2) if values.dim() > 2 else values


def _linear(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    if rows.wants(layer.weight):
        rows.add_product(layer.weight, slopes[0], inputs[0])
    if rows.wants(layer.bias):
        rows.add(layer.bias, _over_middle(slopes[0], 1))


def _padded(layer: Any, image: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """The image with the padding that a convolution cannot do itself, and the padding that is left to it."""
    if layer.padding == "valid":
        return image, 0
    pads: list[int] = []
    for axis in reversed(range(len(layer.kernel_size))):
        if layer.padding == "same":
            total = layer.dilation[axis] * (layer.kernel_size[axis] - 1)
            pads += [total // 2, total - total // 2]
        else:
            pads += [layer.padding[axis]] * 2
    if layer.padding_mode != "zeros":
        return functional.pad(image, pads, layer.padding_mode), 0
    if layer.padding == "same":
        return functional.pad(image, pads), 0
    return image, layer.padding


_CONVOLUTION_WEIGHT: dict[int, Callable[..., torch.Tensor]] = {
    1: torch.nn.grad.conv1d_weight, 2: torch.nn.grad.conv2d_weight, 3: torch.nn.grad.conv3d_weight}


def _convolution(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    """All records as groups of one convolution: the gradient by its weights is that of every record."""
    slope = slopes[0]
    if rows.wants(layer.weight):
        image, padding = _padded(layer, inputs[0])
        records, shape = len(slope), layer.weight.shape
        values = _CONVOLUTION_WEIGHT[len(shape) - 2](
            image.reshape(1, -1, *image.shape[2:]), (records * shape[0], *shape[1:]),
            slope.reshape(1, -1, *slope.shape[2:]), stride=layer.stride, padding=padding, dilation=layer.dilation,
            groups=records * layer.groups)
        rows.add(layer.weight, values.view(records, *shape))
    if rows.wants(layer.bias):
        rows.add(layer.bias, _over_positions(slope))


def _embedding(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    if not rows.wants(layer.weight):
        return
    index = inputs[0].reshape(len(inputs[0]), -1)
    slope = slopes[0].reshape(*index.shape, -1)
    if layer.padding_idx is not None:
        slope = slope * (index != layer.padding_idx).unsqueeze(2)
    rows.add_rows(layer.weight, index, slope)


def _scaled(layer: Any, normal: torch.Tensor, slope: torch.Tensor, rows: GradientRows) -> None:
    """Channels times weight plus bias."""
    if rows.wants(layer.weight):
        rows.add(layer.weight, _over_positions(slope * normal))
    if rows.wants(layer.bias):
        rows.add(layer.bias, _over_positions(slope))


def _layer_norm(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    kept = len(layer.normalized_shape)
    if rows.wants(layer.weight):
        normal = functional.layer_norm(inputs[0], layer.normalized_shape, None, None, layer.eps)
        rows.add(layer.weight, _over_middle(slopes[0] * normal, kept))
    if rows.wants(getattr(layer, "bias", None)):
        rows.add(layer.bias, _over_middle(slopes[0], kept))


def _group_norm(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    _scaled(layer, functional.group_norm(inputs[0], layer.num_groups, None, None, layer.eps), slopes[0], rows)


def _instance_norm(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    own = layer.training or not layer.track_running_stats
    normal = functional.instance_norm(
        inputs[0], layer.running_mean, layer.running_var, None, None, own, 0.0, layer.eps)
    _scaled(layer, normal, slopes[0], rows)


def _fixed_batch_norm(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    normal = functional.batch_norm(inputs[0], layer.running_mean, layer.running_var, None, None, False, 0.0, layer.eps)
    _scaled(layer, normal, slopes[0], rows)


def _prelu(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
    values = _over_positions(slopes[0] * inputs[0].clamp(max=0))
    if rows.wants(layer.weight):
        rows.add(layer.weight, values if layer.weight.numel() > 1 else values.flatten(1).sum(1, keepdim=True))


def _rnn_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    state = ours + past
    return (torch.tanh(state) if layer.nonlinearity == "tanh" else torch.relu(state),)


def _gru_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    reset_x, update_x, new_x = ours.chunk(3, 1)
    reset_h, update_h, new_h = past.chunk(3, 1)
    update = torch.sigmoid(update_x + update_h)
    new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
    return (new + update * (before[0] - new),)


def _lstm_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    enter, forget, cell, out = (ours + past).chunk(4, 1)
    memory = torch.sigmoid(forget) * before[1] + torch.sigmoid(enter) * torch.tanh(cell)
    return torch.sigmoid(out) * torch.tanh(memory), memory


def _cell(gates: Callable[[Any, torch.Tensor, torch.Tensor, Tensors], Tensors]) -> Rule:
    """Rule of a recurrent cell: both products are computed again, and the slopes of their results found."""

    def rule(layer: Any, inputs: Tensors, slopes: Tensors, rows: GradientRows) -> None:
        x, before = inputs[0], inputs[1:]
        if not before:
            before = (x.new_zeros(len(x), layer.hidden_size),) * 2
        with torch.enable_grad():
            ours = functional.linear(x, layer.weight_ih, layer.bias_ih).detach().requires_grad_()
            past = functional.linear(before[0], layer.weight_hh, layer.bias_hh).detach().requires_grad_()
            ours_slope, past_slope = torch.autograd.grad(gates(layer, ours, past, before), (ours, past), slopes)
        for weight, bias, slope, value in ((layer.weight_ih, layer.bias_ih, ours_slope, x),
                                           (layer.weight_hh, layer.bias_hh, past_slope, before[0])):
            if rows.wants(weight):
                rows.add_product(weight, slope, value)
            if rows.wants(bias):
                rows.add(bias, slope)

    return rule


RULES: dict[type[torch.nn.Module], Rule] = {
    torch.nn.Linear: _linear,
    torch.nn.Conv1d: _convolution, torch.nn.Conv2d: _convolution, torch.nn.Conv3d: _convolution,
    torch.nn.Embedding: _embedding,
    torch.nn.LayerNorm: _layer_norm,
    torch.nn.GroupNorm: _group_norm,
    torch.nn.InstanceNorm1d: _instance_norm, torch.nn.InstanceNorm2d: _instance_norm,
    torch.nn.InstanceNorm3d: _instance_norm,
    torch.nn.BatchNorm1d: _fixed_batch_norm, torch.nn.BatchNorm2d: _fixed_batch_norm,
    torch.nn.BatchNorm3d: _fixed_batch_norm,
    torch.nn.PReLU: _prelu,
    torch.nn.RNNCell: _cell(_rnn_gates), torch.nn.GRUCell: _cell(_gru_gates), torch.nn.LSTMCell: _cell(_lstm_gates),
}

_NAMES = {"weight", "bias", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}


def layers_without_rule(model: torch.nn.Module) -> list[str]:
    """Names and kinds of layers with trainable parameters of their own for which there is no rule.

    A rule holds for its very class: a class derived from it may compute something else.
    """
    missing = []
    for name, layer in model.named_modules():
        own = {key for key, value in layer._parameters.items() if value is not None and value.requires_grad}
        if own and (type(layer) not in RULES or not own <= _NAMES):
            missing.append(f"{name or 'the model itself'} ({type(layer).__name__})")
    return missing
