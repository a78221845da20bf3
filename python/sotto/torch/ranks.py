"""What all ranks must have in common before they train, and refusals that rank 0 alone tells."""
from __future__ import annotations

import hashlib
import os
import sys
from typing import Any, Callable, Iterator, Optional, TypeVar

import torch

from sotto.errors import ConfigError

from .errors import ModelError

_Made = TypeVar("_Made")


def together(comm: Any, make: Callable[[], _Made]) -> _Made:
    """Calls a function on every rank. If it fails somewhere, every rank raises the error of the first such rank, and a program
    that does not catch it ends with one line of rank 0. COLLECTIVE.

    Words of other code (an error with a cause), which may hold data, stay on standard error of their rank.

    :param comm: of mpi4py; None: a single process.
    :raises ModelError, ConfigError: what the function raised.
    """
    failure: Optional[Exception] = None
    made: Any = None
    try:
        made = make()
    except (ModelError, ConfigError) as error:
        failure = error
    if comm is None:
        if failure is not None:
            raise failure
        return made  # type: ignore[no-any-return]
    words_for_all = str(failure)
    if failure is not None and failure.__cause__ is not None:
        print(f"rank {comm.Get_rank()}: {failure}", file=sys.stderr, flush=True)
        words_for_all = "model: it fails on records of this rank, whose standard error says how"
    said = comm.allgather(None if failure is None else (isinstance(failure, ConfigError), words_for_all))
    rank = next((rank for rank, words in enumerate(said) if words is not None), None)
    if rank is None:
        return made  # type: ignore[no-any-return]
    of_options, text = said[rank]
    of_all: Any = (ConfigError if of_options else ModelError)(text if rank == 0 else f"rank {rank}: {text}")
    of_all.met_by_all = True  # the hook of sotto.agents prints it once
    raise of_all from None


def _fixed_and_trained(model: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    for name, parameter in model.named_parameters():
        yield "parameter" if parameter.requires_grad else "frozen parameter", name, parameter
    for name, buffer in model.named_buffers():
        yield "buffer", name, buffer


def _digest(salt: bytes, tensor: torch.Tensor) -> bytes:
    values = tensor.detach().cpu().contiguous()
    found = hashlib.blake2b(salt + f"{values.dtype} {tuple(values.shape)}".encode(), digest_size=16)
    found.update(values.reshape(-1).view(torch.uint8).numpy() if values.dim() else values.reshape(1).view(torch.uint8).numpy())
    return found.digest()


def require_same_model(comm: Any, model: torch.nn.Module) -> None:
    """Refuses parameters, frozen ones too, and buffers that are not those of rank 0. COLLECTIVE.

    Rank 0 sends digests of its own; the others say only whether theirs agree, and the first that does not.

    :raises ModelError: the same on all ranks, with the first name that differs.
    """
    if comm is None:
        return
    salt: bytes = comm.bcast(os.urandom(16))
    own = [(kind, name, _digest(salt, tensor)) for kind, name, tensor in _fixed_and_trained(model)]
    first = comm.bcast(own)

    def compare() -> None:
        for (kind, name, digest), (_, other, wanted) in zip(own, first):
            if name != other:
                raise ModelError(f"model: {kind} '{name}' stands where rank 0 has '{other}'; all ranks must make the same model")
            if digest != wanted:
                raise ModelError(f"model: {kind} '{name}' is not that of rank 0; call torch.manual_seed(seed) with the same seed on all "
                                 "ranks before the model is made, or load the same state, which must not depend on private data")
        if len(own) != len(first):
            raise ModelError(f"model: {len(own)} parameters and buffers; rank 0 has {len(first)}; all ranks must make the same model")

    together(comm, compare)
