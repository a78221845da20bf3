"""sotto.audit of agents of a Python program: honest ones and broken ones."""

from __future__ import annotations

import json
import math
import os
import pathlib
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
import pytest

import sotto

Array = npt.NDArray[Any]
SHARDS = [np.random.default_rng(agent).normal(size=(300, 12)) * 3 for agent in range(3)]
OPTIONS: dict[str, Any] = {
    "records": [300] * 3, "rounds": 60, "topology": "complete", "mechanism": "pairs", "adjacency": "record-add-remove",
    "participation": "poisson", "batch_size": 30, "epsilon": 6, "clip_norm": 1.0, "step_size": 0.2, "quiet": True,
}  # fmt: skip


def of_records(shard: Array) -> Callable[[Array, Array], Array]:
    """Gradients of the distance from records, which sotto clips."""
    return lambda model, rows: model - shard[rows]


def clips(shard: Array, scale: float = 1, clip: float = 1, times: int = 1) -> Callable[[Array, Array, float], Any]:
    """A program that clips itself: to `clip` times the norm, and counts a record so many times; then its sum is scaled."""

    def found(model: Array, rows: Array, clip_norm: float) -> tuple[Array | None, Array]:
        gradients = model - shard[rows]
        norms = np.linalg.norm(gradients, axis=1)
        if math.isnan(clip_norm):
            return None, norms
        factors = np.minimum(1, clip * clip_norm / norms)
        return scale * times * (factors @ gradients), norms

    return found


def audit(functions: list[Callable[..., Any]], clipped: bool = False, **more: Any) -> dict[str, Any]:
    wanted = {key: more.pop(key) for key in ("view", "confidence", "canaries") if key in more}
    simulation = sotto.Simulation(12, **(OPTIONS | {"record_view": "eavesdropper", "noise_seed": 5} | more))
    return sotto.audit(peer=simulation, gradients=functions, clipped=clipped, **wanted)


@pytest.mark.parametrize("clipped", [False, True])
def test_honest_agents_show_what_is_accounted_for(clipped: bool) -> None:
    said = audit([(clips if clipped else of_records)(shard) for shard in SHARDS], clipped, confidence=1 - 1e-6)
    assert said["verdict"] == "passed" and said["consistent"] and said["findings"] == []
    assert said["observer"] == "eavesdropper" and said["runs"] == 1 and said["rounds"] == 60 and said["mu"] is None
    assert 0.6 * said["epsilon"] < said["epsilon_lower"] < said["epsilon"] <= said["ledger_epsilon"] <= 6
    assert [agent["agent"] for agent in said["agents"]] == [0, 1, 2]
    for agent in said["agents"]:
        assert agent["ratio_lower"] < 1 < agent["ratio_upper"] and abs(agent["noise_ratio"] - 1) < 0.3
    assert 300 < said["canaries_counted"] <= said["canaries_drawn"]
    folder = pathlib.Path(said["run_directory"])
    ledger = json.loads((folder / "ledger.json").read_text())
    assert any(statement.startswith("Audit with canaries (sotto.audit)") for statement in ledger["statements"])
    assert said["ledger_epsilon"] == ledger["headline"]["epsilon"]
    assert json.loads((folder / "peer-audit.json").read_text()) == said
    assert os.stat(folder / "peer-audit.json").st_mode & 0o777 == 0o600
    assert sotto.Run(str(folder)).summary is not None


@pytest.mark.parametrize("fault", [{"scale": 3}, {"clip": 2}, {"times": 2}])
def test_a_program_that_contributes_more_than_it_says_is_found(fault: dict[str, float]) -> None:
    said = audit([clips(SHARDS[0]), clips(SHARDS[1], **fault), clips(SHARDS[2])], True)  # type: ignore[arg-type]
    assert said["verdict"] == "failed" and not said["consistent"]
    assert said["epsilon_lower"] > said["epsilon"]
    assert len(said["findings"]) == 1 and said["findings"][0].startswith("agent 1: a canary shows at least")
    ratios = [agent["ratio"] for agent in said["agents"]]
    assert ratios[1] > 1.6 and max(ratios[0], ratios[2]) < 1.4


def test_full_batches_have_a_mu_and_agents_may_observe() -> None:
    more = {"participation": "every", "batch_size": 300, "rounds": 20, "epsilon": 4, "record_view": "1,eavesdropper"}
    honest = audit([of_records(shard) for shard in SHARDS], confidence=1 - 1e-6, view="all-messages:1", mechanism="ldp", canaries=300, **more)
    assert honest["verdict"] == "passed", honest
    assert [agent["agent"] for agent in honest["agents"]] == [0, 2]
    assert 0.6 * honest["mu"] < honest["mu_lower"] < honest["mu"] == pytest.approx(sotto.mu(epsilon=4), rel=1e-3)
    assert honest["epsilon"] == pytest.approx(honest["ledger_epsilon"])


def test_few_canaries_say_nothing() -> None:
    said = audit([of_records(shard) for shard in SHARDS], canaries=1, rounds=10)
    assert said["verdict"] == "inconclusive" and said["consistent"] and said["width"] > 0.5


def with_one_memory(find: Callable[..., Any]) -> Callable[..., Any]:
    """The same program, whose sums are all in one place."""
    memory = np.zeros(12)

    def found(model: Array, rows: Array, clip_norm: float) -> tuple[Array | None, Array]:
        total, norms = find(model, rows, clip_norm)
        if total is None:
            return None, norms
        memory[:] = total
        return memory, norms

    return found


def test_a_program_may_use_its_memory_again() -> None:
    said = audit([with_one_memory(clips(shard)) for shard in SHARDS], True, confidence=1 - 1e-6)
    assert said["verdict"] == "passed" and said["epsilon_lower"] > 0.6 * said["epsilon"]


def test_canaries_that_hardly_show_say_nothing() -> None:
    said = audit([clips(shard, scale=0.1) for shard in SHARDS], True)
    assert said["verdict"] == "inconclusive" and said["width"] < 0.5 and said["agents"][0]["ratio_upper"] < 0.5


def test_norms_are_measured_before_an_audit() -> None:
    tuned = {"rounds": None, "batch_size": None, "clip_norm": None, "step_size": None, "participation": None, "tune": "auto"}
    said = audit([of_records(shard) for shard in SHARDS], confidence=1 - 1e-6, **tuned)
    assert said["verdict"] == "passed" and 0.5 * said["epsilon"] < said["epsilon_lower"] < said["epsilon"]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"record_view": None}, 'what eavesdropper sees is not recorded .*record_view="eavesdropper"'),
        ({"view": "node:1"}, 'record_view="1"'),
        ({"view": "all-nodes"}, "all-nodes is not one observer"),
        ({"adjacency": "agent", "participation": "every", "batch_size": None}, "adjacency: agent cannot be audited"),
        ({"l2": 0.1}, "l2: 0.1 cannot be audited"),
        ({"canaries": 0}, "canaries: 0 is not allowed"),
        ({"confidence": 0.2}, "confidence: 0.2 is not allowed"),
        ({"clip_norm": 1e6}, "none was drawn with a gradient as long as the clip"),
    ],
)
def test_what_cannot_be_audited_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(sotto.ConfigError, match=words):
        audit([of_records(shard) for shard in SHARDS], **({"rounds": 5} | more))


def test_only_whole_simulations_that_have_not_begun_are_audited() -> None:
    functions = [of_records(shard) for shard in SHARDS]
    begun = sotto.Simulation(12, **OPTIONS, record_view="eavesdropper")
    begun.step(functions)
    for peer, gradients, words in (
        (begun, functions, "1 of its 60 rounds are done"),
        (begun, None, "gradients: not given"),
        (begun, functions[:2], "2 functions are not allowed"),
        (3, None, "int is not allowed"),
        (sotto.Agent(None, 12, records=30, rounds=5, epsilon=2, adjacency="record", quiet=True), None, "by sotto.torch.simulate"),
    ):
        with pytest.raises(sotto.ConfigError, match=words):
            sotto.audit(peer=peer, gradients=gradients)
    with pytest.raises(sotto.ConfigError, match="trials: has no meaning with peer"):
        sotto.audit(peer=begun, gradients=functions, trials=500)
    with pytest.raises(sotto.ConfigError, match="gradients: has no meaning without peer"):
        sotto.audit(gradients=functions)
