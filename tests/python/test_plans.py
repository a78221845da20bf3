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
