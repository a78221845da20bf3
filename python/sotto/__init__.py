"""sotto: private peer-to-peer training.

Trainings of the program, and of your own models, with noise that is correlated across agents and
rounds, and exact accounts of what anybody learns. docs/python.md has the guide.

graph, plan            topologies, mixing, noise plans, with their numbers
account, audit         what observers learn; attacks on real messages
epsilon, mu, sampled_epsilon, noise_multiplier
                       conversions
train, estimate, Run   trainings of the program's own tasks, and what runs leave behind
Agent, communicator    one agent of a training whose gradients your program computes, under mpi4py
NoiseSource            noise and ledger for somebody else's trainer
sotto.torch            PyTorch models (imported by itself)
errors                 what goes wrong, with the program's messages and exit codes
"""

from ._core import __version__
from .accounting import account, audit, epsilon, mu, noise_multiplier, sampled_epsilon
from .agents import Agent, communicator
from .errors import (
    ConfigError,
    CryptoError,
    DataError,
    DivergedError,
    Error,
    NetworkError,
    PrivacyError,
)
from .noise import NoiseSource
from .plans import Graph, Plan, graph, plan
from .runs import Run, estimate, train

__all__ = [
    "Agent",
    "ConfigError",
    "CryptoError",
    "DataError",
    "DivergedError",
    "Error",
    "Graph",
    "NetworkError",
    "NoiseSource",
    "Plan",
    "PrivacyError",
    "Run",
    "__version__",
    "account",
    "audit",
    "communicator",
    "epsilon",
    "estimate",
    "graph",
    "mu",
    "noise_multiplier",
    "plan",
    "sampled_epsilon",
    "train",
]
