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
            RecordLoss(loss, CPU)
    RecordLoss(nn.CrossEntropyLoss(weight=weight, reduction="sum"), CPU)


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
    def total(outputs, targets, reduction="none"):
        return outputs.sum()

    with pytest.raises(ModelError, match="first axis"):
        RecordLoss(total, CPU)(SCORES, CLASSES, 4)
