"""Losses of records from losses of batches."""
import functools

import pytest
import torch
from torch import nn
from torch.nn import functional

from per_record import CPU, assert_close
from sotto.torch import ModelError
from sotto.torch.losses import RecordLoss

SCORES = torch.randn(4, 3)
CLASSES = torch.tensor([0, 2, 1, 1])


def own_loss(outputs, targets):
    return functional.cross_entropy(outputs, targets)


def per_record_loss(outputs, targets):
    return functional.cross_entropy(outputs, targets, reduction="none")


@pytest.mark.parametrize("loss", [
    nn.CrossEntropyLoss(), nn.CrossEntropyLoss(reduction="sum"), nn.CrossEntropyLoss(reduction="none"),
    functional.cross_entropy, functools.partial(functional.cross_entropy, reduction="sum"), own_loss, per_record_loss])
def test_every_reduction_gives_the_loss_of_each_record(loss):
    wanted = functional.cross_entropy(SCORES, CLASSES, reduction="none")
    assert_close(RecordLoss(loss, CPU)(SCORES, CLASSES, 4), wanted)


def test_the_loss_given_keeps_its_reduction():
    loss = nn.CrossEntropyLoss()
    RecordLoss(loss, CPU)
    assert loss.reduction == "mean"


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_record_of_several_outputs_has_the_loss_of_a_batch_of_one(reduction):
    outputs, targets = torch.randn(4, 2, 5), torch.randn(4, 2, 5)
    for loss in (nn.MSELoss(reduction=reduction), functools.partial(functional.mse_loss, reduction=reduction)):
        alone = torch.stack([loss(outputs[i:i + 1], targets[i:i + 1]) for i in range(4)])
        assert_close(RecordLoss(loss, CPU)(outputs, targets, 4), alone)


def test_outputs_may_be_nested():
    loss = RecordLoss(lambda outputs, targets: (outputs["a"][0] * targets).sum(), CPU)
    found = loss({"a": (SCORES[:, 0], SCORES)}, CLASSES, 4)
    assert_close(found, SCORES[:, 0] * CLASSES)


def test_a_mean_over_class_weights_is_refused_with_a_remedy():
    weight = torch.tensor([1.0, 2.0, 3.0])
    for loss in (nn.CrossEntropyLoss(weight=weight), nn.NLLLoss(weight=weight),
                 functools.partial(functional.cross_entropy, weight=weight)):
        with pytest.raises(ModelError, match="reduction='sum'"):
            RecordLoss(loss, CPU)(SCORES, CLASSES, 4)
    found = RecordLoss(nn.CrossEntropyLoss(weight=weight, reduction="sum"), CPU)(SCORES, CLASSES, 4)
    assert_close(found, functional.cross_entropy(SCORES, CLASSES, weight, reduction="none"))


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 3.0])])
@pytest.mark.parametrize("ignored", [-100, 1])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_mean_over_positions_is_over_those_that_count(weight, ignored, smoothing):
    torch.manual_seed(1)
    outputs, targets = torch.randn(6, 3, 20, requires_grad=True), torch.randint(3, (6, 20))
    targets[:, 2:] = ignored  # 90% padding
    losses = [nn.CrossEntropyLoss(weight, ignore_index=ignored, label_smoothing=smoothing),
              functools.partial(functional.cross_entropy, weight=weight, ignore_index=ignored, label_smoothing=smoothing)]
    if smoothing == 0:
        losses += [nn.NLLLoss(weight, ignore_index=ignored), functools.partial(functional.nll_loss, weight=weight, ignore_index=ignored)]
    for loss in losses:
        alone = [loss(outputs[i:i + 1], targets[i:i + 1]) for i in range(6) if (targets[i] != ignored).any()]
        counted = [i for i in range(6) if (targets[i] != ignored).any()]
        assert len(counted) > 3
        found = RecordLoss(loss, CPU)(outputs, targets, 6)[counted]
        assert_close(found, torch.stack(alone))
        assert_close(torch.autograd.grad(found.sum(), outputs)[0], torch.autograd.grad(sum(alone), outputs)[0])


def test_a_record_of_which_nothing_counts_has_no_loss():
    outputs, targets = torch.randn(3, 3, 5, requires_grad=True), torch.randint(3, (3, 5))
    targets[1] = -100
    found = RecordLoss(nn.CrossEntropyLoss(), CPU)(outputs, targets, 3)
    assert found[1] == 0 and found[0] > 0
    slope, = torch.autograd.grad(found.sum(), outputs)
    assert not slope[1].any() and bool(torch.isfinite(slope).all())


def test_targets_that_are_probabilities_all_count():
    outputs, targets = torch.randn(3, 4, 5), torch.rand(3, 4, 5)
    for loss in (nn.CrossEntropyLoss(), nn.CrossEntropyLoss(weight=torch.rand(4))):
        assert_close(RecordLoss(loss, CPU)(outputs, targets, 3),
                     torch.stack([loss(outputs[i:i + 1], targets[i:i + 1]) for i in range(3)]))


def test_a_function_of_others_with_a_reduction_is_called_for_one_record_at_a_time():
    def padded(outputs, targets, reduction="mean"):
        return functional.cross_entropy(outputs, targets, ignore_index=0, reduction=reduction)

    outputs, targets = torch.randn(4, 3, 9), torch.randint(3, (4, 9))
    assert_close(RecordLoss(padded, CPU)(outputs, targets, 4),
                 torch.stack([padded(outputs[i:i + 1], targets[i:i + 1]) for i in range(4)]))


def test_a_loss_with_parameters_is_refused():
    class Learnt(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1))

    with pytest.raises(ModelError, match="parameters of the model"):
        RecordLoss(Learnt(), CPU)


def test_an_unknown_reduction_is_refused():
    loss = nn.MSELoss()
    loss.reduction = "median"
    with pytest.raises(ModelError, match="median"):
        RecordLoss(loss, CPU)


def test_several_numbers_for_a_record_are_refused():
    with pytest.raises(ModelError, match="one number"):
        RecordLoss(lambda outputs, targets: outputs, CPU)(SCORES, CLASSES, 4)


def test_a_loss_without_an_axis_of_records_is_refused():
    with pytest.raises(ModelError, match="first axis"):
        RecordLoss(functools.partial(functional.cross_entropy, size_average=True), CPU)(SCORES, CLASSES, 4)
