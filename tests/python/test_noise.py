"""Noise for other trainers is the plan's, each round once."""

import copy
import pickle
import threading

import numpy as np
import pytest

import sotto
from conftest import Launch, in_a_fork

PLAN = {"topology": "ring", "agents": 4, "rounds": 30, "epsilon": 3}


def test_noise_has_the_covariance_of_the_plan() -> None:
    plan = sotto.plan(mechanism="corn", utility="horizon:5", **PLAN)
    noise = sotto.NoiseSource(plan, None, 20000, noise_seed=4)
    drawn = noise.draw()
    assert drawn.shape == (4, 20000)
    measured = drawn @ drawn.T / 20000
    bound = 5 * np.sqrt(2 / 20000) * np.diag(plan.covariance).max()
    assert np.abs(measured - plan.covariance).max() < bound
    # The next round is another one.
    again = noise.draw()
    assert np.abs(again @ drawn.T / 20000).max() < bound


def test_noise_is_used_up() -> None:
    noise = sotto.NoiseSource(sotto.plan(mechanism="ldp", **PLAN), None, 3)
    spent = []
    while noise.round < 30:
        noise.noisy(np.zeros((4, 3)))
        spent.append(noise.epsilon)
    assert spent == sorted(spent) and spent[-1] == pytest.approx(3, rel=1e-4)
    with pytest.raises(sotto.PrivacyError, match="used up"):
        noise.draw()
    assert noise.ledger["status"] == "completed"
    assert any("another program" in said for said in noise.statements)


def test_two_threads_do_not_draw_the_same_noise() -> None:
    noise = sotto.NoiseSource(sotto.plan(mechanism="ldp", **PLAN), None, 400_000)
    drawn: list[np.ndarray] = []
    refused: list[str] = []

    def draw() -> None:
        for _ in range(10):
            try:
                drawn.append(noise.draw()[0, :8])
            except sotto.PrivacyError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == noise.round <= 30
    assert len({values.tobytes() for values in drawn}) == len(drawn)
    assert all("under way" in said or "used up" in said for said in refused)


def test_a_forked_process_draws_no_noise() -> None:
    noise = sotto.NoiseSource(sotto.plan(mechanism="ldp", **PLAN), None, 3)
    for draw in (noise.draw, lambda: noise.noisy(np.zeros((4, 3)))):
        assert "forked" in in_a_fork(draw)
    noise.draw()


def test_sources_of_noise_are_not_copied_or_pickled() -> None:
    noise = sotto.NoiseSource(sotto.plan(mechanism="ldp", **PLAN), None, 3)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            copied(noise)


@pytest.mark.parametrize(
    "mechanism", ["ldp", "pairs", "decor", "muffliato", "zip-dl", "homomorphic"]
)
def test_ledger_counts_what_a_training_counts(mechanism: str) -> None:
    plan = sotto.plan(mechanism=mechanism, **PLAN)
    noise = sotto.NoiseSource(plan, None, 2, noise_seed=1)
    for _ in range(plan.rounds):
        noise.draw()
    run = sotto.train(
        mechanism=mechanism, task="quadratic", final_gossip=0, run_directory="run", **PLAN
    )
    assert noise.epsilon == pytest.approx(run.summary["epsilon"], rel=1e-6)


def test_gradients_are_clipped_before_noise() -> None:
    plan = sotto.plan(mechanism="ldp", clip_norm=0.5, **PLAN)
    wild = np.full((4, 3), 1e9)
    noisy = sotto.NoiseSource(plan, None, 3, noise_seed=4).noisy(wild)
    noise = sotto.NoiseSource(plan, None, 3, noise_seed=4).draw()
    assert np.allclose(noisy - noise, 0.5 / np.sqrt(3), rtol=1e-4)
    assert (np.linalg.norm(noisy - noise, axis=1) <= 0.5).all()
    with pytest.raises(sotto.ConfigError, match="2 x 3 is not allowed"):
        sotto.NoiseSource(plan, None, 3).noisy(np.zeros((2, 3)))
    with pytest.raises(sotto.ConfigError, match="poisson"):
        sampled = sotto.plan(mechanism="ldp", adjacency="record-zero-out", sampling_probability=0.1, **PLAN)
        sotto.NoiseSource(sampled, None, 3)


def test_records_are_clipped_one_by_one(launch: Launch) -> None:
    done = launch(
        2,
        """
import numpy as np, sotto
from mpi4py import MPI
comm = MPI.COMM_WORLD
plan = sotto.plan(mechanism="ldp", topology="complete", agents=2, rounds=5, epsilon=3,
                  adjacency="record", batch_size=10, clip_norm=0.5)
records = np.array([[3.0, 0, 4], [0, 0.1, 0], [np.inf, 0, 0]])
noisy = sotto.NoiseSource(plan, comm, 3, noise_seed=1).noisy(records)
noise = sotto.NoiseSource(plan, comm, 3, noise_seed=1).draw()
print(np.allclose(noisy - noise, [0.03, 0.01, 0.04], atol=1e-7))
""",
    )
    assert done.stdout.replace("True", "").split() == [] and done.stdout.count("True") == 2, done.stderr


def test_ranks_share_their_noise(launch: Launch) -> None:
    done = launch(
        4,
        """
import numpy as np, sotto
from mpi4py import MPI
comm = MPI.COMM_WORLD
plan = sotto.plan(mechanism="pairs", topology="ring", agents=4, rounds=5, epsilon=3)
noise = sotto.NoiseSource(plan, comm, 5000)
mine = noise.draw()
drawn = np.array(comm.gather(mine, 0)) if comm.rank == 0 else comm.gather(mine, 0)
if comm.rank == 0:
    error = np.abs(drawn @ drawn.T / 5000 - plan.covariance).max()
    print(error < 5 * np.sqrt(2 / 5000) * np.diag(plan.covariance).max())
""",
    )
    assert done.stdout.split() == ["True"], done.stderr
