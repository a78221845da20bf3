"""Gradients of single records by plain autograd, and by sotto.torch."""
import torch

from sotto.torch.checks import Checks, Modes
from sotto.torch.data import Batch
from sotto.torch.flat import FlatParameters
from sotto.torch.gradients import WAYS
from sotto.torch.losses import RecordLoss
from sotto.torch.sums import with_room

CPU = torch.device("cpu")


def plain_gradients(model, loss, inputs, targets):
    """One backward pass a record over all trainable parameters: (records, d)."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    rows = []
    for i in range(len(targets)):
        value = loss(model(*(x[i:i + 1] for x in inputs)), targets[i:i + 1])
        found = torch.autograd.grad(value, parameters, allow_unused=True)
        rows.append(torch.cat([torch.zeros_like(p).flatten() if g is None else g.flatten() for p, g in zip(parameters, found)]))
    return torch.stack(rows)


def gradients_by(way, model, loss, inputs, targets):
    """The same from sotto.torch, in the named way."""
    flat = FlatParameters(model)
    matrix = torch.full((len(targets), flat.dimension), float("nan"), dtype=flat.vector.dtype)
    WAYS[way](model, RecordLoss(loss, CPU), flat).fill(Batch(tuple(inputs), targets), matrix)
    return matrix


def checks_of(model, loss):
    """Checks of a model and loss."""
    return Checks(model, RecordLoss(loss, CPU), FlatParameters(model), Modes(model))


def assert_close(found, wanted, tolerance=1e-5):
    """Equal but for rounding: `tolerance` relative to the largest number."""
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance * float(wanted.abs().max()))


def assert_same_sums(model, loss, inputs, targets, wanted, tolerance):
    """Ghost norms and clipped sums are those of these gradients of single records, at clips that shorten none, some and all."""
    flat = FlatParameters(model)
    found = WAYS["ghost"](model, RecordLoss(loss, CPU), flat).find(Batch(tuple(inputs), targets))
    norms = wanted.norm(dim=1)
    assert_close(found.norms(), norms.double(), tolerance)
    for clip in (float(norms.median()), 0.1 * float(norms.min()) + 1e-9, 10 * float(norms.max()) + 1e-9):
        goal = with_room(clip, flat.vector.dtype)
        factors = (goal / norms).clamp(max=1).unsqueeze(1)
        assert_close(found.clipped_sum(clip), (wanted * factors).sum(0).to(flat.vector.dtype), tolerance)
        alone = found.clipped(len(targets) - 1, clip)
        assert_close(alone, (wanted * factors)[-1].to(flat.vector.dtype), tolerance)
        assert float(alone.norm()) <= clip
