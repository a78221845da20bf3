"""A private step by the method of Opacus' ghost clipping, in plain torch: one backward pass for norms, one for the clipped sum."""
import torch
from torch import nn
from torch.nn import functional


def of_products(slopes, values):
    """Squared norms of slopes^T values: slopes (B, T, m), values (B, T, k)."""
    if slopes.shape[1] ** 2 > slopes.shape[2] * values.shape[2]:
        return (slopes.mT @ values).square().sum((1, 2))
    return ((slopes @ slopes.mT) * (values @ values.mT)).sum((1, 2))


def squared_norms(layer, x, slope):
    """Of the gradients of all records by the layer's parameters, from its input and the slope of its output."""
    if isinstance(layer, nn.Linear):
        x, slope = x.reshape(len(x), -1, x.shape[-1]), slope.reshape(len(x), -1, slope.shape[-1])
        return of_products(slope, x) + slope.sum(1).square().sum(1)
    if isinstance(layer, nn.Conv2d):
        patches = functional.unfold(x, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
        return of_products(slope.flatten(2).mT, patches.mT) + slope.sum((2, 3)).square().sum(1)
    if isinstance(layer, nn.GroupNorm):
        normal = functional.group_norm(x, layer.num_groups, eps=layer.eps)
        return (slope * normal).flatten(2).sum(2).square().sum(1) + slope.flatten(2).sum(2).square().sum(1)
    same = (x.unsqueeze(1) == x.unsqueeze(2)).to(slope.dtype)  # positions of the same row of a table
    if isinstance(layer, nn.EmbeddingBag):
        return slope.square().sum(1) * same.mean((1, 2))
    return ((slope @ slope.mT) * same).sum((1, 2))


def private_step(model, loss, optimiser, clip_norm, noise, inputs, targets):
    """loss: of each record. noise: standard deviation of what is added to the sum."""
    norms, first = [], [True]

    def watch(layer, given, output):
        output.register_hook(lambda slope: norms.append(squared_norms(layer, given[0], slope)) if first else None)

    hooks = [layer.register_forward_hook(watch) for layer in model if list(layer.parameters())]
    losses = loss(model(inputs), targets)
    losses.sum().backward(retain_graph=True)
    first.clear()
    for hook in hooks:
        hook.remove()
    optimiser.zero_grad()
    (losses * (clip_norm / sum(norms).sqrt()).clamp(max=1)).sum().backward()
    for parameter in model.parameters():
        parameter.grad.add_(torch.randn_like(parameter), alpha=noise).div_(len(inputs))
    optimiser.step()
