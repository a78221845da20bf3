"""Names of other libraries, optimisers and schedules of torch as options of sotto."""
from __future__ import annotations

import math
import warnings
from typing import Any, Optional

import torch

from sotto.errors import ConfigError

_OTHER_NAMES = {
    "noise_multiplier": "give epsilon (and delta), from which sotto finds the noise that all agents need together",
    "module": "it is called model",
    "data_loader": "it is called data",
    "train_loader": "it is called data",
    "criterion": "it is called loss",
    "grad_sample_mode": "it is called gradients: auto, or another way of docs/torch.md",
    "max_physical_batch_size": "it is called micro_batch",
    "clipping": "every gradient is clipped as a whole, to max_grad_norm",
    "noise_generator": "noise comes from secret seeds of the agents",
    "secure_mode": "noise is always drawn by a cipher",
    "loss_reduction": "reduction of the loss has no effect on the sum over records",
    "lr": "give optimizer=torch.optim.SGD(model.parameters(), lr=...), or step_size",
    "learning_rate": "give optimizer=torch.optim.SGD(model.parameters(), lr=...), or step_size",
}
_SAME_MEANING = {"target_epsilon": "epsilon", "target_delta": "delta", "max_grad_norm": "clip_norm"}


def translated(options: dict[str, Any]) -> dict[str, Any]:
    """Options with sotto's names for what other libraries call otherwise.

    :raises ConfigError: a name that has no meaning here, with what to use, or two names of one option.
    """
    found = dict(options)
    for name, advice in _OTHER_NAMES.items():
        if name in found:
            raise ConfigError(f"{name}: not allowed here; {advice}")
    for name, own in _SAME_MEANING.items():
        value = found.pop(name, None)
        if value is None:
            continue
        if found.get(own) is not None:
            raise ConfigError(f"{name}: {value}, and {own}: {found[own]}; give one of them, they mean the same")
        found[own] = value
    poisson = found.pop("poisson_sampling", None)
    if poisson is not None:
        found["participation"] = "poisson" if poisson else "every"
    return {name: value for name, value in found.items() if value is not None}


def rounds_of_epoch(batch_size: Any, records: float) -> int:
    """Rounds in which every record is used once on average.

    :param batch_size: records a round, a share of them, or "all".  :param records: of an agent, the mean over all.
    :raises ConfigError: another value.
    """
    if batch_size == "all":
        return 1
    if not isinstance(batch_size, (int, float)) or not batch_size > 0:
        raise ConfigError(f"batch_size: {batch_size!r} with epochs; give a number of records, a share of them such as 0.1, or 'all'")
    share = batch_size if isinstance(batch_size, float) and batch_size < 1 else batch_size / records
    return max(1, round(1 / share))


def _the_one(optimizer: torch.optim.Optimizer, name: str) -> Any:
    values = {group[name] for group in optimizer.param_groups}
    if len(values) > 1:
        raise ConfigError(f"optimizer: {name} differs between groups of parameters; all must have the same")
    return values.pop()


def options_of_optimizer(optimizer: torch.optim.Optimizer, model: torch.nn.Module) -> dict[str, Any]:
    """step_size, step_schedule, momentum and l2 that make sotto's steps those of an optimiser.

    A round is x <- W ((1 - eta l2) x - eta u), u <- momentum u + noisy gradient, with the same eta for all agents and
    coordinates. The optimiser itself is not used.

    :raises ConfigError: it does something else.
    """
    kind = type(optimizer).__name__
    if type(optimizer) is not torch.optim.SGD:
        raise ConfigError(
            f"optimizer: {kind} is not possible: a round mixes x <- W (x - step (gradient + noise)) with one step for all coordinates and "
            "agents, so that the agents' noise cancels, and only SGD's steps are of this form; use torch.optim.SGD(model.parameters(), "
            "lr=...), or leave optimizer out (tune='auto' chooses the step); precondition_every=10 gives coordinates Adam's scales, the same "
            "at all agents")
    if {id(p) for group in optimizer.param_groups for p in group["params"]} != {id(p) for p in model.parameters() if p.requires_grad}:
        raise ConfigError("optimizer: its parameters are not the trainable ones of the model; make it from this model's parameters(), after "
                          "sotto.torch.fix(), which returns a copy, and freeze others by requires_grad_(False)")
    for name, wanted in (("nesterov", False), ("maximize", False), ("dampening", 0)):
        if _the_one(optimizer, name) != wanted and not (name == "dampening" and _the_one(optimizer, "momentum") == 0):
            raise ConfigError(f"optimizer: {name}={_the_one(optimizer, name)} is not possible; use {name}={wanted}")
    momentum, decay = _the_one(optimizer, "momentum"), _the_one(optimizer, "weight_decay")
    if momentum and decay:
        raise ConfigError(f"optimizer: momentum={momentum} with weight_decay={decay} is not possible: SGD puts the decay into the momentum, "
                          "sotto applies it to the model; use one of them, or l2= in place of weight_decay, which acts apart from momentum")
    found = {"step_size": float(_the_one(optimizer, "lr")), "step_schedule": "constant"}
    return found | ({"momentum": momentum} if momentum else {}) | ({"l2": decay} if decay else {})


def schedule_of(scheduler: Any, optimizer: Optional[torch.optim.Optimizer], epochs: Optional[int], epoch_rounds: int) -> str:
    """step_schedule with the steps of a scheduler of torch that is stepped after every epoch.

    It is found by stepping the scheduler, which is then set back.

    :raises ConfigError: steps depend on losses, become zero, or change more than the learning rate.
    """
    if optimizer is None or getattr(scheduler, "optimizer", None) is not optimizer:
        raise ConfigError("lr_scheduler: it must be a scheduler of the optimizer that is given")
    if epochs is None:
        raise ConfigError("lr_scheduler: it needs epochs=, since it is stepped after every epoch")
    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise ConfigError("lr_scheduler: ReduceLROnPlateau is not possible: its steps depend on losses, which differ between agents; "
                          "use one whose steps are known before")
    before, groups = scheduler.state_dict(), [dict(group) for group in optimizer.param_groups]
    sizes: list[float] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the optimiser has not stepped
            for _ in range(epochs):
                sizes.append(float(_the_one(optimizer, "lr")))
                if any(group.get("momentum") != old.get("momentum") for group, old in zip(optimizer.param_groups, groups)):
                    raise ConfigError(f"lr_scheduler: {type(scheduler).__name__} changes the momentum; use cycle_momentum=False")
                scheduler.step()
    finally:
        scheduler.load_state_dict(before)
        for group, old in zip(optimizer.param_groups, groups):
            group.update(old)
    if not all(size > 0 and math.isfinite(size) for size in sizes):
        raise ConfigError(f"lr_scheduler: the step of epoch {next(i for i, size in enumerate(sizes) if not size > 0)} is not above 0; use a "
                          "least learning rate (eta_min), or fewer epochs")
    changes = [f"{epoch * epoch_rounds}:{sizes[epoch] / sizes[0]!r}" for epoch in range(1, epochs) if sizes[epoch] != sizes[epoch - 1]]
    return f"piecewise:{','.join(changes)}" if changes else "constant"
