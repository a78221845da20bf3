"""Private noise in a training loop of one's own: nothing of sotto but its noise and its ledger.

mpirun -n 6 python3 examples/own_loop.py

Linear regression over a ring. Every process has its own records, and this loop exchanges and mixes
models itself, with mpi4py, as decentralizepy or BlueFog would. sotto plans the noise, agrees on its
keys, clips and hides every gradient, and counts what that costs.
"""

import numpy as np
from mpi4py import MPI

import sotto

ROUNDS, DIMENSION, STEP = 200, 10, 0.5
comm = MPI.COMM_WORLD

# Data of this process, and a truth that all of them look for.
truth = np.random.default_rng(0).normal(size=DIMENSION)
own = np.random.default_rng(100 + comm.rank)
features = own.normal(size=(5000, DIMENSION))
targets = features @ truth + 0.1 * own.normal(size=5000)

plan = sotto.plan(
    mechanism="pairs", topology="ring", agents=comm.size, rounds=ROUNDS, epsilon=1, clip_norm=1,
    adjacency="record", batch_size=len(targets),
)
noise = sotto.NoiseSource(plan, comm, DIMENSION)
weights = plan.mixing[comm.rank]
neighbours = [v for v in range(comm.size) if weights[v] > 0 and v != comm.rank]


def gradients(model: np.ndarray) -> np.ndarray:
    """One row a record, each clipped by itself."""
    return features * (features @ model - targets)[:, None]


def mix(message: np.ndarray) -> np.ndarray:
    """What this agent makes of its neighbours' messages and its own."""
    received = {v: np.empty(DIMENSION) for v in neighbours}
    requests = [comm.Irecv(received[v], source=v) for v in neighbours]
    requests += [comm.Isend(message, dest=v) for v in neighbours]
    MPI.Request.Waitall(requests)
    return weights[comm.rank] * message + sum(weights[v] * received[v] for v in neighbours)


model = np.zeros(DIMENSION)
for t in range(ROUNDS):
    model = mix(model - STEP / (1 + t / 50) * noise.noisy(gradients(model)))

error = comm.allreduce(float(np.linalg.norm(model - truth)), MPI.SUM) / comm.size
if comm.rank == 0:
    print(f"mean distance from the truth {error:.3f} of {np.linalg.norm(truth):.3f}")
    print(f"epsilon {noise.epsilon:.2f} for one record")
    for statement in noise.statements:
        print("note:", statement)
