"""What is refused before training, and the choice of a way to the gradients of single records.

Privacy rests on one fact: a record has an effect on its own row of gradients only. Layers that are known to break it are
refused by their kind. All models are then tried on a few records of the agent's own shard: alone and in company. That is a
trial, no proof: the way that "auto" takes is one in which rows cannot mix, and `rows` looks on in every round.
"""
from __future__ import annotations

import contextlib
import copy
from typing import Any, Callable, Iterator, NamedTuple, Optional

import torch

from .data import Batch
from .errors import ModelError
from .flat import FlatParameters
from .ghost import GhostGradients, layers_without_rule
from .gradients import FAILURES, WAYS, RecordGradients, SingleGradients, VectorisedGradients, first_line
from .losses import RecordLoss
from .recordwise import unsafe_part
from .vectorised import vectorisation

_TOLERANCE = 1e-3  # relative to the largest number; float32 sums differ by their order
_ROUNDING = 1e-5  # of gradients, relative to the largest of all parameters


def refuse_layers(model: torch.nn.Module) -> None:
    """Refuses layers that mix records, or write into what must stay as it is.

    :raises ModelError: with the layer's name and kind, and what to use instead.
    """
    for name, layer in model.named_modules():
        reason = layer_refusal(layer)
        if reason:
            raise ModelError(f"model: layer '{name or 'model'}' is {type(layer).__name__}, which {reason}")


def layer_refusal(layer: Any) -> Optional[str]:
    """Why a layer is refused, and what to use instead; None if it is not."""
    if isinstance(layer, torch.nn.modules.instancenorm._InstanceNorm):
        if layer.track_running_stats and layer.training:
            return "keeps statistics of records; use track_running_stats=False, or GroupNorm"
    elif isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
        if layer.training or layer.running_mean is None or layer.running_var is None:
            return "mixes the records of a batch; use GroupNorm (or keep it in eval() with statistics from public data)"
    elif isinstance(layer, (torch.nn.Embedding, torch.nn.EmbeddingBag)):
        if layer.max_norm is not None:
            return "changes its weights in the forward pass; use max_norm=None"
        if layer.scale_grad_by_freq:
            return "scales gradients by counts over the batch; use scale_grad_by_freq=False"
        if layer.sparse:
            return "makes sparse gradients; use sparse=False"
    elif isinstance(layer, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        return "spreads batches over devices; use the model inside (its attribute 'module')"
    return None


class Modes:
    """The training flags that a model's layers had at the start; sotto.torch computes all gradients under these."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._flags = [(layer, layer.training) for layer in model.modules()]

    def restore(self) -> None:
        """Gives every layer its flag back."""
        for layer, flag in self._flags:
            layer.training = flag

    @contextlib.contextmanager
    def without_dropout(self) -> Iterator[None]:
        """Layers of Dropout let everything pass, and so do attention and recurrent layers, which stay in training: in eval()
        torch would take a path for inference that cannot be vectorised."""
        within: list[tuple[Any, float]] = []
        for layer, _ in self._flags:
            if isinstance(layer, torch.nn.modules.dropout._DropoutNd):
                layer.training = False
            elif isinstance(layer, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
                part: Any = layer
                within.append((part, part.dropout))
                part.dropout = 0.0
        try:
            yield
        finally:
            self.restore()
            for part, share in within:
                part.dropout = share

    @contextlib.contextmanager
    def evaluating(self) -> Iterator[None]:
        """Every layer is in eval()."""
        for layer, _ in self._flags:
            layer.training = False
        try:
            yield
        finally:
            self.restore()


class FixedBuffers:
    """Says whether the buffers of a model are what they were."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._before = self._state()

    def _state(self) -> dict[str, tuple[int, int]]:
        return {name: (id(buffer), buffer._version) for name, buffer in self._model.named_buffers()}

    def check(self) -> None:
        """:raises ModelError: the forward pass has written into a buffer."""
        now = self._state()
        for name in now:
            if now[name] != self._before.get(name):
                raise ModelError(f"model: the forward pass changes buffer '{name}', which keeps something about records; "
                                 "use a layer without such a buffer, or put this one in eval()")


def _close(found: torch.Tensor, wanted: torch.Tensor, floor: float = 1e-12) -> bool:
    largest = float(wanted.abs().max()) if wanted.numel() else 0.0
    return bool(torch.allclose(found, wanted, rtol=_TOLERANCE, atol=_TOLERANCE * largest + floor, equal_nan=True))


class Checks:
    """Tries a model on a few records.

    Parameters are moved a little meanwhile, since zeros hide what they multiply. Layers of Dropout let everything pass. Where a model is random all the same (a Dropout that is no layer), its
    values are compared in eval(); the slopes are compared as in training.
    """

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, modes: Modes) -> None:
        self._model = model
        self._loss = loss
        self._flat = flat
        self._modes = modes

    def _losses(self, batch: Batch) -> torch.Tensor:
        return self._loss(self._model(*batch.inputs), batch.targets, batch.records)

    @contextlib.contextmanager
    def moved_parameters(self) -> Iterator[None]:
        """Parameters are near what they were, and none is zero; torch's generator is where it was afterwards."""
        vector = self._flat.vector
        before = vector.clone()
        width = 0.02 + 0.1 * float(before.square().mean().sqrt())
        with torch.random.fork_rng():
            noise = torch.randn(before.shape, generator=torch.Generator().manual_seed(1), dtype=before.dtype)
            vector += width * noise.to(vector.device)
            try:
                yield
            finally:
                vector.copy_(before)

    @contextlib.contextmanager
    def _deterministic(self, batch: Batch) -> Iterator[None]:
        with self._modes.without_dropout(), torch.no_grad():
            random = not torch.equal(self._losses(batch), self._losses(batch))
        with self._modes.evaluating() if random else self._modes.without_dropout():
            yield

    def refuse_mixing(self, batch: Batch) -> None:
        """Refuses a model or loss in which a record has an effect on another one's loss.

        :param batch: a few records, at least one; fewer than two show nothing.
        :raises ModelError: a loss is another in company, or has a slope by another record's inputs.
        """
        complaint = "model: a record's {} depends on the other records of its batch; use layers that treat records alone " \
                    "(GroupNorm, LayerNorm), and a loss whose outputs and targets have the same shape or are scores and classes"
        with self._deterministic(batch), torch.no_grad():
            together = self._losses(batch)
            alone = torch.cat([self._losses(batch.record(i)) for i in range(batch.records)])
            random = not torch.equal(together, self._losses(batch))  # in eval() too, as a VAE; only slopes can be compared then
        if not random and not _close(together, alone):
            raise ModelError(complaint.format("loss"))
        inputs = tuple(x.detach().clone().requires_grad_(x.is_floating_point()) for x in batch.inputs)
        known = [x for x in inputs if x.requires_grad]
        with torch.enable_grad():
            losses = self._losses(Batch(tuple(x.clone() for x in inputs), batch.targets))  # it may write into them
        for i in range(batch.records if known and losses.requires_grad else 0):
            for slope in torch.autograd.grad(losses[i], known, retain_graph=True, allow_unused=True):
                if slope is not None and bool((slope.flatten(1) != 0).any(1).index_fill(0, torch.tensor(
                        [i], device=slope.device), False).any()):
                    raise ModelError(complaint.format("gradient"))

    def fits(self, way: RecordGradients, batch: Batch) -> bool:
        """Whether a way finds the gradients that one record after another gives, and can take the model as it is in training.

        :raises Exception: of the model's, where the way cannot take it.
        """
        found = self._flat.vector.new_empty(batch.records, self._flat.dimension)
        wanted = torch.empty_like(found)
        fill: Callable[[Batch, torch.Tensor], None] = way.vectorise if isinstance(way, VectorisedGradients) else way.fill
        with self._deterministic(batch), torch.random.fork_rng():
            with torch.no_grad():
                random = not torch.equal(self._losses(batch), self._losses(batch))
            if random and isinstance(way, VectorisedGradients):
                fill = _with_same_draws(way)
            for i in range(batch.records):
                torch.manual_seed(1)
                SingleGradients(self._model, self._loss, self._flat).fill(batch.record(i), wanted[i:i + 1])
            torch.manual_seed(1)
            fill(batch, found)
        fill(batch, torch.empty_like(found))
        # Parameter by parameter; what is almost zero next to the rest may be rounding.
        floor = _ROUNDING * float(wanted.abs().max())
        return all(_close(found[:, place], wanted[:, place], floor) for place in map(self._flat.place, self._flat.parameters))


def _with_same_draws(way: VectorisedGradients) -> Callable[[Batch, torch.Tensor], None]:
    """A pass in which all records have the same random numbers: those of a single pass, if torch's generator starts alike."""
    same = copy.copy(way)
    same._losses = vectorisation()[0](same._one, randomness="same")
    return same.vectorise


class Choice(NamedTuple):
    """A way, and why it is this one: for the ledger in words that do not depend on data, and in those of torch."""

    way: RecordGradients
    why: str
    detail: str = ""

    @property
    def statement(self) -> str:
        """For the ledger."""
        return (f"Gradients of single records: {self.way.name}; {self.why}. In every round random records are compared with a "
                "pass of their own before anything is sent.")


def _why_ghost(way: RecordGradients) -> str:
    if way.unsafe is None:
        return "the model is a sequence of known layers, which treat records alone"
    return f"by the user's opt-in, and the guarantee rests on the model not mixing records, which sotto cannot see: {way.unsafe}"


def choose_way(name: str, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, checks: Checks,
               batch: Optional[Batch]) -> Choice:
    """The way of this name, or for "auto" the first in which rows cannot mix and that gives right gradients on the batch.

    That is ghost norms where all modules and the loss are known to treat records alone, torch's vectorisation where it can take
    the model, otherwise one by one. Without a batch what its first records will take.

    :raises ModelError: no such way, or the named one gives other gradients than one record after another does.
    """
    if name not in ("auto", *WAYS):
        raise ModelError(f"gradients: '{name}'; it must be one of auto, {', '.join(WAYS)}")
    if name != "auto":
        way = WAYS[name](model, loss, flat)
        if batch is not None and name != SingleGradients.name and not checks.fits(way, batch):
            raise ModelError(f"gradients: '{name}' does not find this model's gradients of single records; use 'auto'")
        return Choice(way, _why_ghost(way) if name == GhostGradients.name else "every record has a pass of its own, as was asked for")
    return _choose_safe_way(model, loss, flat, checks, batch)


def _choose_safe_way(model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, checks: Checks,
                     batch: Optional[Batch]) -> Choice:
    unknown = unsafe_part(model) or loss.unsafe_part()
    no_ghost, detail = f"ghost norms are chosen for torch.nn.Sequential of known layers only, and {unknown}", ""
    if unknown is not None and not layers_without_rule(model):
        no_ghost += "; gradients='ghost' takes this model too, and is faster, if you promise that it mixes no records"
    if unknown is None:
        try:
            way: RecordGradients = GhostGradients(model, loss, flat)
            if batch is None or checks.fits(way, batch):
                return Choice(way, _why_ghost(way))
            no_ghost, detail = "ghost norms give other gradients than a pass of its own for every record", "ghost: other gradients"
        except FAILURES as failure:
            no_ghost, detail = "ghost norms cannot take the model", f"ghost: {first_line(failure)}"
    try:
        way = VectorisedGradients(model, loss, flat)
        if batch is None or checks.fits(way, batch):
            return Choice(way, f"torch runs the model on every record by itself, all at once ({no_ghost})", detail)
        no_vectors, failed = "its vectorisation gives other gradients", "vectorised: other gradients"
    except FAILURES as failure:
        no_vectors, failed = "torch cannot vectorise the model", f"vectorised: {first_line(failure)}"
    return Choice(SingleGradients(model, loss, flat), f"every record has a pass of its own, one after the other, which is slow "
                  f"({no_ghost}; {no_vectors})", "; ".join(filter(None, (detail, failed))))
