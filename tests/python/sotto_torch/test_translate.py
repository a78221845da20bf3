"""Optimisers and schedules of torch are taken where sotto's steps are theirs."""
import numpy
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

sotto = pytest.importorskip("sotto")
pytest.importorskip("sotto._core")
import sotto.torch  # noqa: E402
from sotto.torch.translate import options_of_optimizer, rounds_of_epoch, schedule_of  # noqa: E402

LOSS = nn.CrossEntropyLoss()


def data():
    inputs = torch.randn(40, 4, generator=torch.Generator().manual_seed(1))
    return TensorDataset(inputs, (inputs.sum(1) > 0).long())


@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}, {"weight_decay": 0.1}, {"momentum": 0.9, "dampening": 0}],
                         ids=["plain", "momentum", "decay", "dampening"])
@pytest.mark.parametrize("schedule", [None, lambda o: torch.optim.lr_scheduler.ExponentialLR(o, 0.5),
                                      lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 9)], ids=["constant", "exponential", "cosine"])
def test_rounds_without_noise_are_steps_of_torch(options, schedule):
    torch.manual_seed(3)
    model, other = nn.Linear(4, 2).double(), nn.Linear(4, 2).double()
    other.load_state_dict(model.state_dict())
    records = TensorDataset(data().tensors[0].double(), data().tensors[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, **options)
    scheduler = schedule and schedule(optimizer)
    with sotto.torch.make_private(model, data=records, loss=LOSS, optimizer=optimizer, lr_scheduler=scheduler, mechanism="none", epochs=6,
                                  batch_size="all", adjacency="record", max_grad_norm=100, quiet=True) as peer:
        peer.train()
    assert optimizer.param_groups[0]["lr"] == 0.3, "the user's objects are as they were"
    optimizer = torch.optim.SGD(other.parameters(), lr=0.3, **options)
    scheduler = schedule and schedule(optimizer)
    for _ in range(6):
        optimizer.zero_grad()
        LOSS(other(records.tensors[0]), records.tensors[1]).backward()
        optimizer.step()
        if scheduler:
            scheduler.step()
    assert numpy.abs(sotto.torch.parameters(peer.model) - sotto.torch.parameters(other)).max() < 1e-9


@pytest.mark.parametrize("make, message", [
    (lambda p: torch.optim.Adam(p), "optimizer: Adam is not possible: .* use torch.optim.SGD.* precondition_every=10"),
    (lambda p: torch.optim.SGD(p, lr=1, momentum=0.9, nesterov=True), "optimizer: nesterov=True is not possible; use nesterov=False"),
    (lambda p: torch.optim.SGD(p, lr=1, momentum=0.9, weight_decay=0.1), "use one of them, or l2= in place of weight_decay"),
    (lambda p: torch.optim.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 2}], lr=1), "optimizer: lr differs between groups"),
    (lambda p: torch.optim.SGD(p[:1], lr=1), "optimizer: its parameters are not the trainable ones of the model; "
     r"make it from this model's parameters\(\), after sotto.torch.fix\(\)"),
])
def test_other_optimisers_are_refused(make, message):
    model = nn.Linear(4, 2)
    with pytest.raises(sotto.ConfigError, match=message):
        options_of_optimizer(make(list(model.parameters())), model)


def test_schedules_become_pieces():
    optimizer = torch.optim.SGD(nn.Linear(4, 2).parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 3], 0.5)
    assert schedule_of(scheduler, optimizer, 5, 10) == "piecewise:20:0.5,30:0.25"
    assert scheduler.last_epoch == 0 and optimizer.param_groups[0]["lr"] == 0.5
    with pytest.raises(sotto.ConfigError, match="ReduceLROnPlateau is not possible: its steps depend on losses"):
        schedule_of(torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer), optimizer, 5, 10)
    with pytest.raises(sotto.ConfigError, match="needs epochs="):
        schedule_of(scheduler, optimizer, None, 10)
    with pytest.raises(sotto.ConfigError, match="the step of epoch 2 is not above 0"):
        schedule_of(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 2), optimizer, 5, 10)


@pytest.mark.parametrize("batch, rounds", [(100, 6), (0.1, 10), ("all", 1), (1000, 1)])
def test_an_epoch_uses_every_record_once_on_average(batch, rounds):
    assert rounds_of_epoch(batch, 600) == rounds
