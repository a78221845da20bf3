"""Threads of an agent among the ranks of its host, and its memory."""
from __future__ import annotations

import ctypes
import os
from typing import Optional

import torch

# Set for every rank by Open MPI, MPICH's and Intel's launcher, and Slurm.
_RANKS_HERE = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE")
_RANK_HERE = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h


def _from_environment(names: tuple[str, ...]) -> Optional[int]:
    for name in names:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return None


def ranks_here() -> int:
    """Ranks on this host, as the launcher says; 1 without one."""
    return max(1, _from_environment(_RANKS_HERE) or 1)


def rank_here() -> int:
    """Number of this rank among those of its host; 0 without a launcher."""
    return _from_environment(_RANK_HERE) or 0


def cores_here() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fair_threads() -> int:
    """Threads that let all ranks of a host run at once: its cores over its ranks, at least 1."""
    return max(1, cores_here() // ranks_here())


def set_threads(threads: int) -> None:
    """Sets the threads of torch and, where it multiplies matrices with OpenBLAS, of this too."""
    torch.set_num_threads(threads)
    try:
        ctypes.CDLL("libopenblas.so.0").openblas_set_num_threads(ctypes.c_int(threads))
    except (OSError, AttributeError):
        pass  # another BLAS, which goes by torch's number or has one thread


def keep_freed_memory() -> None:
    """Lets up to 256 MiB of freed memory stay with the process, where malloc is glibc's: every round asks for the same again, and
    new pages cost more than what is computed in them."""
    try:
        settings = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    settings(_M_MMAP_THRESHOLD, 32 << 20)
    settings(_M_TRIM_THRESHOLD, 256 << 20)


def default_device() -> torch.device:
    """A GPU where torch has one (that of this rank's number on its host, in turn), otherwise the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", rank_here() % torch.cuda.device_count())
