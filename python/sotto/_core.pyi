"""Types of the compiled part."""

from typing import Any, Callable, Sequence

import numpy as np
import numpy.typing as npt

__version__: str

def launched() -> bool: ...
def command_names() -> list[str]: ...
def options(command: str) -> list[dict[str, Any]]: ...
def run(command: str, arguments: Sequence[str]) -> int: ...

class Graph:
    def __init__(self, arguments: Sequence[str]) -> None: ...
    agents: int
    edges: npt.NDArray[np.int32]
    mixing: npt.NDArray[np.float64]
    description: str
    notes: list[str]
    report_json: str

class Plan:
    def __init__(self, arguments: Sequence[str]) -> None: ...
    agents: int
    mechanism: str
    scale: float
    rounds: int
    clip_norm: float
    edges: npt.NDArray[np.int32]
    mixing: npt.NDArray[np.float64]
    coefficients: npt.NDArray[np.float64]
    covariance: npt.NDArray[np.float64]
    temporal_kind: str
    temporal: npt.NDArray[np.float64]
    statements: list[str]
    report_json: str
    def to_json(self) -> str: ...
    def save(self, path: str) -> None: ...

def clipped_sum(
    gradients: Any, clip_norm: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def clipped_difference(
    found: Any, gradient: list[Any], clip_norm: float
) -> tuple[float, float, float]: ...

def audit_canaries(
    directory: str,
    view: str,
    initial: npt.NDArray[np.float64],
    sent: npt.NDArray[np.float64],
    without: npt.NDArray[np.float64],
    allowed: npt.NDArray[np.float64],
    confidence: float,
) -> str: ...

class Agents:
    def __init__(
        self,
        communicator: int | None,
        arguments: Sequence[str],
        dimension: int,
        records: list[int],
        most_rows: int,
        most_summed_rows: int,
        initial: npt.NDArray[np.float64] | None,
        description: str,
        data_digests: list[bytes],
        person: str,
    ) -> None: ...
    agents: int
    processes: int
    failed_together: bool
    round: int
    rounds: int
    more: bool
    to_measure: bool
    clip_norm: float
    mechanism: str
    adjacency: str
    epsilon: float
    directory: str
    ledger_json: str
    phases: dict[str, float]
    def number(self, place: int) -> int: ...
    def batch_size(self, place: int) -> int: ...
    def model(self, place: int) -> npt.NDArray[np.float64]: ...
    def batch(self, place: int) -> npt.NDArray[np.int64]: ...
    def tune(self, gradients: list[Any], clipped: bool) -> None: ...
    def step(self, gradients: list[Any], clipped: bool) -> bool: ...
    def set_losses(
        self, place: int, train: Callable[..., Any] | None, test: Callable[..., Any] | None, test_records: int
    ) -> None: ...
    def declare(self, statement: str) -> None: ...
    def require_auditable(self, view: str) -> None: ...
    def finish(self) -> str: ...
    def stop(self) -> None: ...
    def stop_here(self) -> None: ...
    def end_all(self, message: str, exit_code: int) -> None: ...

class NoiseSource:
    def __init__(
        self, plan: Plan, communicator: int | None, dimension: int, noise_seed: int | None
    ) -> None: ...
    round: int
    outputs: list[tuple[int, int]]
    epsilon: float
    mu: float
    statements: list[str]
    ledger_json: str
    def draw(self) -> npt.NDArray[np.float64]: ...
    def noisy(self, gradients: npt.NDArray[Any]) -> npt.NDArray[np.float64]: ...
