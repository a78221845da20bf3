"""sotto: private peer-to-peer training.

Trains the program's tasks or your own models, with noise that is correlated across agents and
rounds, and accounts exactly for what anybody learns. docs/python.md is the guide.

graph, plan            topologies, mixing and noise plans
account, audit         what observers learn; attacks on real messages
epsilon, mu, sampled_epsilon, noise_multiplier
                       conversions
train, estimate, Run   trainings of the program's own tasks, and their results
Agent, communicator    one agent of a training whose gradients your program computes, under mpi4py
clipped_sum            how an agent clips and adds gradients
NoiseSource            noise and ledger for other trainers
sotto.torch            PyTorch models (a separate import)
errors                 exceptions, with the program's messages and exit codes
"""

from ._core import __version__
from .accounting import account, audit, epsilon, mu, noise_multiplier, sampled_epsilon
from .agents import Agent, Simulation, clipped_sum, communicator
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
    "Simulation",
    "__version__",
    "account",
    "audit",
    "clipped_sum",
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
