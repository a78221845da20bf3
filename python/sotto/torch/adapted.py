"""A model, its loss and batches of any structure as one module: tensors in, one loss for every record out."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, Iterable, NamedTuple, Optional

import torch

from .collated import Structure, put_together, unfilled
from .errors import ModelError
from .gradients import FAILURES, first_line
from .losses import RecordLoss, part

#: A user's own pass: forward(model, batch) -> losses of the records of a batch, or the loss of a batch of one record; or a pair
#: of this and the model's outputs; or outputs with an attribute `loss`.
Forward = Callable[[torch.nn.Module, Any], Any]

_TARGETS = ("labels", "label", "targets", "target", "y")


class Found(NamedTuple):
    """Losses, shape (records,); outputs and targets as the model and the batch have them, None where they are not known."""

    losses: torch.Tensor
    outputs: Any
    targets: Any


def target_key(batch: Mapping[Any, Any]) -> Optional[Any]:
    """The key of the targets of a dictionary."""
    return next((key for key in _TARGETS if key in batch), None)


def _split(batch: Any) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Arguments of the model, by place and by name, and targets (None: there are none)."""
    if isinstance(batch, Mapping):
        key = target_key(batch)
        return (), {str(name): value for name, value in batch.items() if name != key}, None if key is None else batch[key]
    if not isinstance(batch, (list, tuple)) or len(batch) < 2:
        raise ModelError(f"data: a batch is of type {type(batch).__name__}; it must be (input, ..., target), or a dictionary with 'labels', "
                         "or give forward=lambda model, batch: loss")
    places: list[Any] = []
    names: dict[str, Any] = {}
    for value in batch[:-1]:
        if isinstance(value, Mapping):
            names.update(value)
        elif isinstance(value, (list, tuple)):
            places.extend(value)
        else:
            places.append(value)
    return tuple(places), names, batch[-1]


def scores(outputs: Any) -> Any:
    """`logits` of a model's outputs where they have such an attribute, otherwise the outputs."""
    return outputs if isinstance(outputs, torch.Tensor) else getattr(outputs, "logits", outputs)


class Adapted(torch.nn.Module):
    """Runs a model on tensors that `collated.Collated` has taken apart.

    Its outputs are losses, one a record. A batch is given to the model as a whole where all records have tensors of the same
    shapes with one row each, and `together` says that the model can take it; otherwise one record at a time.

    :param loss: None: `forward`, or the model's outputs (`.loss`), have it.
    """

    def __init__(self, model: torch.nn.Module, loss: Optional[RecordLoss], forward: Optional[Forward], structure: Structure) -> None:
        super().__init__()
        self.model = model
        self._loss = loss
        self._own_forward = forward
        self._structure = structure
        self._parts = _tensors_in(structure)
        self._axes: Optional[int] = None  # of the outputs, where those of one record may lack the first
        self.together = True

    @property
    def ignored(self) -> int:
        """Targets of classes that do not count."""
        return -100 if self._loss is None else self._loss.ignored

    def double(self) -> Any:
        """The same in double precision."""
        super().double()
        if self._loss is not None:
            self._loss = self._loss.double()
        return self

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        """Losses, shape (records,)."""
        return self.found(tensors).losses

    def found(self, tensors: tuple[torch.Tensor, ...]) -> Found:
        """Losses, outputs and targets of all records."""
        records = tensors[0].shape[0]
        equal = len(tensors) == self._parts
        if records > 1 and equal and self.together and all(tensor.shape[1:2] == (1,) for tensor in tensors):
            return self._pass([tensor.squeeze(1) for tensor in tensors], records)
        alone = [self._pass([tensor[i] for tensor in tensors] if equal else unfilled(tensors, i), 1) for i in range(records)]
        return Found(torch.cat([one.losses for one in alone]), [one.outputs for one in alone], [one.targets for one in alone])

    def _pass(self, tensors: Iterable[torch.Tensor], records: int) -> Found:
        batch = put_together(self._structure, iter(tensors))
        if self._own_forward is not None:
            loss, outputs = _loss_and_outputs(self._own_forward(self.model, batch))
            return Found(_numbers(loss, records, "forward"), scores(outputs), _targets(batch))
        places, names, targets = _split(batch)
        if self._loss is None:
            said = self.model(**batch) if isinstance(batch, Mapping) else self.model(*places, targets, **names)
            if getattr(said, "loss", None) is None:
                raise ModelError("loss: the model's outputs have no loss; give loss=, or forward=lambda model, batch: loss")
            return Found(_numbers(said.loss, records, "the model"), scores(said), targets)
        if targets is None:
            raise ModelError(f"data: a dictionary without targets ({', '.join(_TARGETS)}); give forward=lambda model, batch: loss")
        outputs = self._with_first_axis(scores(self.model(*places, **names)), records)
        return Found(_losses(self._loss, outputs, targets, records), outputs, targets)

    def loss_of_all(self, tensors: tuple[torch.Tensor, ...]) -> Optional[float]:
        """The loss of a whole batch, where the user's pass, loss or model gives one number for it; None otherwise."""
        if len(tensors) != self._parts or tensors[0].shape[0] < 2 or any(tensor.shape[1:2] != (1,) for tensor in tensors):
            return None
        batch = put_together(self._structure, iter([tensor.squeeze(1) for tensor in tensors]))
        try:
            if self._own_forward is not None:
                value, _ = _loss_and_outputs(self._own_forward(self.model, batch))
            else:
                places, names, targets = _split(batch)
                if self._loss is not None:
                    return self._loss.of_all(scores(self.model(*places, **names)), targets)
                value = (self.model(**batch) if isinstance(batch, Mapping) else self.model(*places, targets, **names)).loss
        except FAILURES:
            return None
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None

    def _with_first_axis(self, outputs: Any, records: int) -> Any:
        """Gives the outputs of one record the axis of records that a `squeeze()` has taken away."""
        if records == 1 and isinstance(outputs, torch.Tensor) and self._axes is not None and outputs.dim() == self._axes - 1:
            return outputs.unsqueeze(0)
        return outputs

    def learn(self, tensors: tuple[torch.Tensor, ...]) -> None:
        """Finds out how the model takes batches, from three equal records.

        :raises ModelError: it cannot take one record.
        """
        three = tuple(torch.cat([one] * 3) for one in tensors)
        with torch.no_grad(), torch.random.fork_rng():
            try:
                outputs = self.found(three).outputs
                self._axes = outputs.dim() if isinstance(outputs, torch.Tensor) else None
            except (*FAILURES, ModelError):
                self.together = False
            try:
                self.found(tensors)
            except ModelError:
                raise
            except FAILURES as error:
                raise ModelError(
                    f"model: a batch of one record fails: {first_line(error)}; records are run alone, so use x.shape[0] where a batch "
                    "size is fixed, and no layer that needs other records") from error


def _tensors_in(structure: Structure) -> int:
    return int(structure.kind == "tensor") + sum(map(_tensors_in, structure.parts))


def _targets(batch: Any) -> Any:
    if isinstance(batch, Mapping):
        return batch.get(target_key(batch))
    return batch[-1] if isinstance(batch, (list, tuple)) and len(batch) > 1 else None


def _loss_and_outputs(said: Any) -> tuple[Any, Any]:
    """Of what a user's pass gives: a pair, outputs that have `.loss`, or a loss alone."""
    if isinstance(said, tuple) and len(said) == 2:
        return said[0], said[1]
    return (said.loss, said) if getattr(said, "loss", None) is not None else (said, None)


def _numbers(loss: Any, records: int, source: str) -> torch.Tensor:
    if not isinstance(loss, torch.Tensor) or loss.numel() != records:
        said = tuple(loss.shape) if isinstance(loss, torch.Tensor) else type(loss).__name__
        raise ModelError(f"loss: {source} gives {said} for a batch of {records} record{'s' if records > 1 else ''}; it must give one "
                         "loss a record, or the loss of a batch of one record")
    return loss.reshape(records)


def _losses(loss: RecordLoss, outputs: Any, targets: Any, records: int) -> torch.Tensor:
    if isinstance(targets, torch.Tensor):
        return loss(outputs, targets, records)
    return torch.cat([loss.of_one(part(outputs, i), part(targets, i)) for i in range(records)])
