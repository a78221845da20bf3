"""What gradients of records by a layer's parameters are made of, from its inputs and the slopes of its outputs.

A rule is a function `rule(layer, inputs, slopes)`: `inputs` are the tensors a layer was called with, `slopes` the
derivatives of the summed losses by its outputs; the first axis of all is the record's (B records). It yields each
parameter with a function that gives its term (`terms`).
"""
from __future__ import annotations

import functools
from typing import Any, Callable, Iterator, Optional

import torch
import torch.nn.functional as functional
import torch.nn.grad

from .terms import Convolutions, Places, Products, Rows

Tensors = tuple[torch.Tensor, ...]
Found = Iterator[tuple[Optional[torch.Tensor], Callable[[], Any]]]
Rule = Callable[[Any, Tensors, Tensors], Found]

_GROUPED_CHANNELS = range(4, 33)  # with so many torch convolves all records as groups faster than it multiplies patches


def _over_middle(values: torch.Tensor, kept: int) -> torch.Tensor:
    """Sum over all axes but the first and the last `kept`, which are flattened."""
    return values.reshape(values.shape[0], -1, *values.shape[values.dim() - kept:]).sum(1).flatten(1)


def _over_positions(values: torch.Tensor) -> torch.Tensor:
    """Sum over all axes but records and channels."""
    return values.flatten(2).sum(2) if values.dim() > 2 else values


def product(weight: Optional[torch.Tensor], bias: Optional[torch.Tensor], values: torch.Tensor, slopes: torch.Tensor) -> Found:
    """What a product with a matrix gives: values (B, ..., in), slopes (B, ..., out)."""

    def positions(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(len(x), 1, -1, x.shape[-1])

    yield weight, lambda: Products(positions(slopes), positions(values))
    yield bias, lambda: Rows(_over_middle(slopes, 1))


def _linear(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    return product(layer.weight, layer.bias, inputs[0], slopes[0])


def _padded(layer: Any, image: torch.Tensor) -> torch.Tensor:
    """The image with the padding of a convolution."""
    if layer.padding == "valid":
        return image
    pads: list[int] = []
    for axis in reversed(range(len(layer.kernel_size))):
        if layer.padding == "same":
            total = layer.dilation[axis] * (layer.kernel_size[axis] - 1)
            pads += [total // 2, total - total // 2]
        else:
            pads += [layer.padding[axis]] * 2
    if not any(pads):
        return image
    return functional.pad(image, pads, "constant" if layer.padding_mode == "zeros" else layer.padding_mode)


_CONVOLUTION_WEIGHT: dict[int, Callable[..., torch.Tensor]] = {
    1: torch.nn.grad.conv1d_weight, 2: torch.nn.grad.conv2d_weight, 3: torch.nn.grad.conv3d_weight}


def _convolution(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    shape = layer.weight.shape

    def patches(images: torch.Tensor) -> torch.Tensor:
        images = images.contiguous()
        steps = images.stride()
        size = tuple(slopes[0].shape[2:])
        views = images.as_strided(
            (*images.shape[:2], *shape[2:], *size),
            (*steps[:2], *(a * b for a, b in zip(steps[2:], layer.dilation)), *(a * b for a, b in zip(steps[2:], layer.stride))))
        return views.reshape(len(images), layer.groups, shape[1:].numel(), torch.Size(size).numel()).transpose(2, 3)

    def weight(images: torch.Tensor, slope: torch.Tensor, groups: int = 1) -> torch.Tensor:
        return _CONVOLUTION_WEIGHT[len(shape) - 2](images, (groups * shape[0], *shape[1:]), slope, stride=layer.stride,
                                                   dilation=layer.dilation, groups=groups * layer.groups)

    def rows(images: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
        if shape[1] not in _GROUPED_CHANNELS:
            return term(images, slope).products().rows()
        return weight(images.reshape(1, -1, *images.shape[2:]), slope.reshape(1, -1, *slope.shape[2:]), len(slope)).view(len(slope), -1)

    def term(images: torch.Tensor, slope: torch.Tensor) -> Convolutions:
        return Convolutions(images, slope, layer.groups, lambda x, y: weight(x, y).view(-1), rows, patches)

    def found() -> Any:
        whole = term(_padded(layer, inputs[0]), slopes[0])
        small = shape.numel() <= 2 * (whole.images[0].numel() + whole.slopes[0].numel())
        return Rows(whole.rows()) if small else whole

    yield layer.weight, found
    yield layer.bias, lambda: Rows(_over_positions(slopes[0]))


def _embedding(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    index = inputs[0].reshape(len(inputs[0]), -1)

    def found() -> Places:
        values = slopes[0].reshape(*index.shape, -1)
        if layer.padding_idx is not None:
            values = values * (index != layer.padding_idx).unsqueeze(2)
        return Places(len(layer.weight), index, values)

    yield layer.weight, found


def _embedding_bag(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    """One bag a record."""
    if layer.mode == "max" or len(inputs) != 1 or inputs[0].dim() != 2:
        raise NotImplementedError("EmbeddingBag with mode 'max', offsets or weights of samples")
    index = inputs[0]

    def found() -> Places:
        counts = torch.ones_like(index) if layer.padding_idx is None else (index != layer.padding_idx).long()
        shares = counts.to(slopes[0].dtype)
        if layer.mode == "mean":
            shares = shares / counts.sum(1, keepdim=True).clamp(min=1)
        return Places(len(layer.weight), index, slopes[0].unsqueeze(1) * shares.unsqueeze(2))

    yield layer.weight, found


def _scaled(layer: Any, normal: Callable[[], torch.Tensor], slope: torch.Tensor) -> Found:
    """Channels times weight plus bias."""
    yield layer.weight, lambda: Rows(_over_positions(slope * normal()))
    yield layer.bias, lambda: Rows(_over_positions(slope))


def _layer_norm(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    kept = len(layer.normalized_shape)
    yield layer.weight, lambda: Rows(_over_middle(
        slopes[0] * functional.layer_norm(inputs[0], layer.normalized_shape, None, None, layer.eps), kept))
    yield getattr(layer, "bias", None), lambda: Rows(_over_middle(slopes[0], kept))


def _group_norm(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    """torch's own sums for a batch, of one record that has the channels and groups of all."""
    image, slope = inputs[0].contiguous(), slopes[0].contiguous()
    records, channels = image.shape[:2]
    positions, groups = image.numel() // (records * channels), layer.num_groups

    @functools.lru_cache(maxsize=None)
    def sums() -> list[torch.Tensor]:
        _, means, scales = torch.native_group_norm(image, None, None, records, channels, positions, groups, layer.eps)
        found = torch.ops.aten.native_group_norm_backward(
            slope, image, means.view(1, -1), scales.view(1, -1), image.new_ones(records * channels), 1, records * channels, positions,
            records * groups, [False, True, True])
        return [values.view(records, channels) for values in found[1:]]

    yield layer.weight, lambda: Rows(sums()[0])
    yield layer.bias, lambda: Rows(sums()[1])


def _instance_norm(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    own = layer.training or not layer.track_running_stats
    return _scaled(layer, lambda: functional.instance_norm(
        inputs[0], layer.running_mean, layer.running_var, None, None, own, 0.0, layer.eps), slopes[0])


def _fixed_batch_norm(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    return _scaled(layer, lambda: functional.batch_norm(
        inputs[0], layer.running_mean, layer.running_var, None, None, False, 0.0, layer.eps), slopes[0])


def _prelu(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
    values = _over_positions(slopes[0] * inputs[0].clamp(max=0))
    yield layer.weight, lambda: Rows(values if layer.weight.numel() > 1 else values.flatten(1).sum(1, keepdim=True))


def rnn_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    """The next state of a plain cell from both products."""
    state = ours + past
    return (torch.tanh(state) if layer.nonlinearity == "tanh" else torch.relu(state),)


def gru_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    """The next state of a GRU from both products."""
    reset_x, update_x, new_x = ours.chunk(3, 1)
    reset_h, update_h, new_h = past.chunk(3, 1)
    update = torch.sigmoid(update_x + update_h)
    new = torch.tanh(new_x + torch.sigmoid(reset_x + reset_h) * new_h)
    return (new + update * (before[0] - new),)


def lstm_gates(layer: Any, ours: torch.Tensor, past: torch.Tensor, before: Tensors) -> Tensors:
    """The next state and memory of an LSTM from both products."""
    enter, forget, cell, out = (ours + past).chunk(4, 1)
    memory = torch.sigmoid(forget) * before[1] + torch.sigmoid(enter) * torch.tanh(cell)
    return torch.sigmoid(out) * torch.tanh(memory), memory


def _cell(gates: Callable[[Any, torch.Tensor, torch.Tensor, Tensors], Tensors]) -> Rule:
    """Rule of a recurrent cell: both products are computed again, and the slopes of their results found."""

    def rule(layer: Any, inputs: Tensors, slopes: Tensors) -> Found:
        x, before = inputs[0], inputs[1:]
        if not before:
            before = (x.new_zeros(len(x), layer.hidden_size),) * 2
        with torch.enable_grad():
            ours = functional.linear(x, layer.weight_ih, layer.bias_ih).detach().requires_grad_()
            past = functional.linear(before[0], layer.weight_hh, layer.bias_hh).detach().requires_grad_()
            ours_slope, past_slope = torch.autograd.grad(gates(layer, ours, past, before), (ours, past), slopes)
        yield from product(layer.weight_ih, layer.bias_ih, x, ours_slope)
        yield from product(layer.weight_hh, layer.bias_hh, before[0], past_slope)

    return rule


RULES: dict[type[torch.nn.Module], Rule] = {
    torch.nn.Linear: _linear,
    torch.nn.Conv1d: _convolution, torch.nn.Conv2d: _convolution, torch.nn.Conv3d: _convolution,
    torch.nn.Embedding: _embedding, torch.nn.EmbeddingBag: _embedding_bag,
    torch.nn.LayerNorm: _layer_norm,
    torch.nn.GroupNorm: _group_norm,
    torch.nn.InstanceNorm1d: _instance_norm, torch.nn.InstanceNorm2d: _instance_norm,
    torch.nn.InstanceNorm3d: _instance_norm,
    torch.nn.BatchNorm1d: _fixed_batch_norm, torch.nn.BatchNorm2d: _fixed_batch_norm,
    torch.nn.BatchNorm3d: _fixed_batch_norm,
    torch.nn.PReLU: _prelu,
    torch.nn.RNNCell: _cell(rnn_gates), torch.nn.GRUCell: _cell(gru_gates), torch.nn.LSTMCell: _cell(lstm_gates),
}
