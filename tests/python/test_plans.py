"""Graphs and plans have the program's numbers."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import sotto


def test_mixing_of_a_ring_is_that_of_metropolis() -> None:
    ring = sotto.graph(topology="ring", agents=6, mixing="metropolis")
    wanted = np.zeros((6, 6))
    for u in range(6):
        for v in (u - 1, u, u + 1):
            wanted[u, v % 6] = 1 / 3
    assert np.allclose(ring.mixing, wanted, atol=1e-15)
    assert ring.edges.shape == (6, 2)
    assert ring.agents == 6


def test_plan_of_every_agent_alone_has_independent_noise() -> None:
    plan = sotto.plan(mechanism="ldp", topology="ring", agents=5, rounds=40, epsilon=3)
    variances = np.diag(plan.covariance)
    assert np.allclose(plan.covariance, np.diag(variances), atol=1e-9 * variances.max())
    # mu^2 = T (2 C)^2 / variance for the change of one agent's contribution.
    mu = sotto.mu(epsilon=3)
    assert np.allclose(variances, 40 * (2 * plan.clip_norm) ** 2 / mu**2, rtol=1e-6)


def test_plan_is_what_the_program_writes(tmp_path: pathlib.Path) -> None:
    options = {"mechanism": "pairs", "topology": "ring", "agents": 6, "rounds": 30, "epsilon": 2}
    plan = sotto.plan(**options)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    written = tmp_path / "program.json"
    subprocess.run([os.environ["SOTTO"], "plan", *words, "--quiet", "--out", str(written)], check=True)
    plan.save(tmp_path / "module.json")
    assert json.loads(written.read_text()) == json.loads((tmp_path / "module.json").read_text())
    assert plan.report["mechanism"] == "pairs"
    again = sotto.plan(plan=str(written), topology="ring", agents=6, rounds=30, epsilon=2)
    assert np.array_equal(again.covariance, plan.covariance)


def test_a_covariance_may_be_an_array_or_a_function() -> None:
    options = {"topology": "ring", "agents": 4, "rounds": 10, "epsilon": 2}
    made = 2 * np.eye(4) - 0.4 * np.ones((4, 4))
    of_array = sotto.plan(covariance=made, **options)
    assert of_array.mechanism == "covariance"
    assert np.allclose(of_array.covariance / of_array.covariance[0, 0], made / made[0, 0], atol=1e-12)
    asked = []

    def by_graph(graph: sotto.Graph) -> np.ndarray:
        asked.append(graph)
        return made

    of_function = sotto.plan(covariance=by_graph, **options)
    assert np.array_equal(of_function.covariance, of_array.covariance)
    assert asked[0].agents == 4 and len(asked[0].edges) == 4
    (kept,) = pathlib.Path("runs").glob("covariance-*.npy")
    assert np.array_equal(sotto.plan(covariance=kept, **options).covariance, of_array.covariance)
    account = sotto.account(covariance=made, view="eavesdropper", **options)
    assert account["mechanism"] == "covariance"
    run = sotto.train(covariance=made, task="quadratic", adjacency="agent", **options)
    assert run.config["covariance"] == str(kept)
    alone = sotto.Agent(
        None, 3, records=20, rounds=2, epsilon=5, quiet=True, run_directory="alone",
        covariance=lambda graph: np.eye(graph.agents),
    )  # fmt: skip
    assert alone.agents == 1
    for wrong in (np.ones(4), [["1"]], lambda graph: None):
        with pytest.raises(sotto.ConfigError, match="covariance: .* is not allowed"):
            sotto.plan(covariance=wrong, **options)
    with pytest.raises(sotto.ConfigError, match="covariance"):
        sotto.plan(covariance=made, mechanism="pairs", **options)


def test_errors_are_those_of_the_program() -> None:
    with pytest.raises(sotto.ConfigError, match="--epsilon"):
        sotto.plan(epsilon=-1)
    with pytest.raises(sotto.ConfigError, match="did you mean mechanism"):
        sotto.plan(mechanisn="corn")
    with pytest.raises(ValueError):
        sotto.graph(topology="ring", agents=0)
    with pytest.raises(sotto.DataError) as raised:
        sotto.graph(graph="/nowhere.edges")
    assert raised.value.exit_code == 3
    with pytest.raises(sotto.ConfigError, match="no meaning here"):
        sotto.plan(json="-")


def test_help_reads_like_documentation() -> None:
    import inspect

    text = sotto.train.__doc__ or ""
    assert "\n    mechanism: " in text and "[pairs]" in text
    assert "\n    clip_norm: " in text and "[0.1]" in text
    assert "batch_size" in inspect.signature(sotto.train).parameters
    assert "data" not in inspect.signature(sotto.Agent.__init__).parameters
