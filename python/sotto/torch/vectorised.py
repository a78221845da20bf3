"""torch's vectorisation, of whichever version is installed."""
from __future__ import annotations

from typing import Any, Callable

from .errors import ModelError


def vectorisation() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """vmap and functional_call of torch.func (from 2.0), or of functorch and torch 1.13."""
    try:
        from torch.func import functional_call, vmap  # type: ignore[import]
    except ImportError:
        try:
            from functorch import vmap  # type: ignore[import]
            from torch.nn.utils.stateless import functional_call
        except ImportError as error:
            raise ModelError("gradients: 'vectorised' needs torch.func or functorch; use gradients='one-by-one'") from error
    return vmap, functional_call
