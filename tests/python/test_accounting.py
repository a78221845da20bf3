"""Conversions and accounts."""

import pytest

import sotto


def test_epsilon_and_mu_are_inverse() -> None:
    for epsilon in (0.5, 2.0, 10.0):
        assert sotto.epsilon(sotto.mu(epsilon)) == pytest.approx(epsilon, rel=1e-6)


def test_sampled_rounds() -> None:
    sigma = sotto.noise_multiplier(2, sampling_probability=0.01, rounds=1000)
    assert sotto.sampled_epsilon(sigma, 0.01, 1000) <= 2
    assert sotto.sampled_epsilon(0.98 * sigma, 0.01, 1000) > 2
    # All records every round: the Gaussian mechanism, mu = sqrt(T) / sigma.
    assert sotto.sampled_epsilon(5, 1, 16) == pytest.approx(sotto.epsilon(0.8), rel=1e-3)


def test_account_of_a_coalition() -> None:
    said = sotto.account(
        mechanism="ldp", topology="ring", agents=6, rounds=20, epsilon=3, view="coalition:2,4"
    )
    assert said["view"] == "coalition:2,4"
    assert sorted(pair["target"] for pair in said["pairs"]) == [0, 1, 3, 5]
    # Who hears neighbours only learns no more than who hears everybody.
    for pair in said["pairs"]:
        assert 0 < pair["epsilon"] <= pair["ldp"] == pytest.approx(3, rel=1e-6)


def test_audit_agrees_with_the_ledger() -> None:
    said = sotto.audit(
        mechanism="pairs", topology="ring", agents=5, rounds=5, trials=600, noise_seed=3,
        view="eavesdropper", run_directory="audit",
    )  # fmt: skip
    assert said["consistent"] is True
