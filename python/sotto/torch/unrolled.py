"""Layers of several products, run step by step so that the slopes of each product can be found.

A function `unrolled(layer, tape, ...)` computes what the layer's own forward pass does, from operations of torch on the
layer's parameters, and tells the tape of each product with a parameter.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Optional

import torch
import torch.nn.functional as functional

from .layers import Found, Tensors, gru_gates, lstm_gates, product, rnn_gates


def _recurrent(gates: Callable[..., Tensors]) -> Callable[..., Any]:
    """nn.RNN, nn.GRU and nn.LSTM over tensors of sequences (not packed, no projections)."""

    def unrolled(layer: Any, tape: Any, given: Any, state: Any = None) -> Any:
        if not isinstance(given, torch.Tensor) or given.dim() != 3 or layer.proj_size > 0:
            raise NotImplementedError(f"{type(layer).__name__} of packed or single sequences, or with projections")
        x = given if layer.batch_first else given.transpose(0, 1)
        states = _first_states(layer, x, state)
        ends: list[Tensors] = []
        for level in range(layer.num_layers):
            both = []
            for suffix in ("", "_reverse")[:2 if layer.bidirectional else 1]:
                outputs, end = _one_direction(layer, tape, gates, x, f"l{level}{suffix}", states[len(ends)])
                both.append(outputs)
                ends.append(end)
            x = torch.cat(both, 2)
            if layer.dropout > 0 and level + 1 < layer.num_layers:
                x = tape.dropout(x, layer.dropout, layer.training)
        last = tuple(torch.stack(parts) for parts in zip(*ends))
        return x if layer.batch_first else x.transpose(0, 1), last if len(last) > 1 else last[0]

    return unrolled


def _first_states(layer: Any, x: torch.Tensor, state: Any) -> list[Tensors]:
    """Of every level and direction."""
    parts = 2 if isinstance(layer, torch.nn.LSTM) else 1
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    if state is None:
        return [(x.new_zeros(len(x), layer.hidden_size),) * parts] * count
    return list(zip(*(part.unbind(0) for part in (state if parts > 1 else (state,)))))


def _parameters(layer: Any, name: str) -> tuple[Any, ...]:
    """Weights and biases, of inputs and of states; None without biases."""
    return tuple(getattr(layer, f"{kind}_{name}", None) for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))


def _one_direction(layer: Any, tape: Any, gates: Callable[..., Tensors], x: torch.Tensor, name: str,
                   state: Tensors) -> tuple[torch.Tensor, Tensors]:
    w_ih, w_hh, b_ih, b_hh = _parameters(layer, name)
    ours = functional.linear(x, w_ih, b_ih)
    probe = torch.zeros_like(ours).requires_grad_(torch.is_grad_enabled())  # its slopes are those of products with states
    backwards = name.endswith("_reverse")
    steps = list(zip(ours.unbind(1), probe.unbind(1)))
    before, outputs = [], []
    for own, zero in reversed(steps) if backwards else steps:
        before.append(state[0])
        state = gates(layer, own, torch.addmm(zero, state[0], w_hh.t()) if b_hh is None else
                      functional.linear(state[0], w_hh, b_hh) + zero, state)
        outputs.append(state[0])
    if backwards:
        before.reverse()
        outputs.reverse()

    def terms(inputs: Tensors, slopes: Tensors) -> Found:
        yield from product(w_ih, b_ih, inputs[0], slopes[0])
        yield from product(w_hh, b_hh, inputs[1], slopes[1])

    tape.watch((x, torch.stack(before, 1).detach()), (ours, probe), terms)
    return torch.stack(outputs, 1), state


def attention(layer: Any, tape: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
              key_padding_mask: Optional[torch.Tensor] = None, need_weights: bool = True, attn_mask: Optional[torch.Tensor] = None,
              average_attn_weights: bool = True, is_causal: bool = False) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
    """nn.MultiheadAttention over tensors of sequences."""
    if layer.bias_k is not None or layer.add_zero_attn or query.dim() != 3 or query.is_nested:
        raise NotImplementedError("MultiheadAttention of single sequences, or with added keys")
    alike = query is key and key is value
    if not layer.batch_first:
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    parts = _projections(layer, tape, query, key, value, alike)
    heads = layer.num_heads
    query, key, value = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in parts)
    scores = (query / math.sqrt(query.shape[3])) @ key.transpose(2, 3)
    for mask, shape in ((attn_mask, (-1, heads, *scores.shape[2:])), (key_padding_mask, (len(scores), 1, 1, -1))):
        if mask is not None:
            mask = mask.view(1, 1, *mask.shape) if mask.dim() == 2 and shape[1] == heads else mask.view(shape)
            scores = scores.masked_fill(mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    shares = tape.dropout(scores.softmax(3), layer.dropout, layer.training)
    mixed = (shares @ value).transpose(1, 2).flatten(2)
    found = tape.product(mixed, layer.out_proj.weight, layer.out_proj.bias)
    weights = (shares.mean(1) if average_attn_weights else shares) if need_weights else None
    return found if layer.batch_first else found.transpose(0, 1), weights


def _projections(layer: Any, tape: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, alike: bool) -> Any:
    """Queries, keys and values, (B, T, width) each."""
    bias = layer.in_proj_bias
    if alike and layer._qkv_same_embed_dim:
        return tape.product(query, layer.in_proj_weight, bias).chunk(3, 2)
    width = layer.embed_dim
    separate = (layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight)
    found = []
    for i, x in enumerate((query, key, value)):
        own = slice(i * width, (i + 1) * width)
        weight = layer.in_proj_weight[own] if layer._qkv_same_embed_dim else separate[i]
        output = functional.linear(x, weight, None if bias is None else bias[own])

        def terms(inputs: Tensors, slopes: Tensors, i: int = i) -> Found:
            whole = functional.pad(slopes[0], (i * width, (2 - i) * width))  # zeros for the other two
            yield from product(layer.in_proj_weight, bias, inputs[0], whole)
            if not layer._qkv_same_embed_dim:
                yield from product(separate[i], None, inputs[0], slopes[0])

        tape.watch((x,), (output,), terms)
        found.append(output)
    return found


UNROLLED: dict[type[torch.nn.Module], Callable[..., Any]] = {
    torch.nn.RNN: _recurrent(rnn_gates), torch.nn.GRU: _recurrent(gru_gates), torch.nn.LSTM: _recurrent(lstm_gates),
    torch.nn.MultiheadAttention: attention,
}
