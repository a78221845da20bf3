"""Ways to the gradient of every record: hooks on layers, torch's vectorisation, one record after another."""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, NamedTuple, Optional, Protocol

import torch

from .data import Batch
from .errors import ModelError
from .flat import FlatParameters
from .layers import RULES, GradientRows, Tensors, layers_without_rule
from .losses import RecordLoss
from .recordwise import refuse_call, unsafe_part

# What torch raises for what it cannot do, and layers for what they cannot take.
FAILURES = (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError, AttributeError)


class RecordGradients(Protocol):
    """Gradients of single records.

    `unsafe` is what could let records mix in this way, in words; None: every row is of its own record by construction.
    """

    name: str
    unsafe: Optional[str]

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""


class _Call(NamedTuple):
    """One call of a layer."""

    layer: torch.nn.Module
    inputs: Tensors
    outputs: Tensors
    versions: tuple[int, ...]

    def changed(self) -> bool:
        """Whether somebody has written into the inputs or outputs since."""
        return self.versions != _versions(self.inputs + self.outputs)


def _versions(tensors: Tensors) -> tuple[int, ...]:
    return tuple(tensor._version for tensor in tensors)


def _tensors(values: Any) -> Tensors:
    """All tensors in nested tuples, in order."""
    if isinstance(values, torch.Tensor):
        return (values,)
    if isinstance(values, (list, tuple)):
        return tuple(tensor for value in values for tensor in _tensors(value))
    return ()


class HookGradients:
    """One forward and one backward pass of the batch; each layer's rule makes the gradients of its parameters.

    Costs about as much as the gradient of the whole batch. Right for models in which no record has an effect on another
    one's loss: by construction where `recordwise` knows all modules and the loss, which every batch is held to; otherwise
    by the user's word.

    :raises ModelError: a layer with trainable parameters has no rule.
    """

    name = "hooks"

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        missing = layers_without_rule(model)
        if missing:
            raise ModelError(f"gradients: no hooks for {', '.join(missing)}; use gradients='auto'")
        self._model = model
        self._loss = loss
        self._flat = flat
        self._copies = False
        self.unsafe = unsafe_part(model) or loss.unsafe_part()
        self._layers = [layer for layer in model.modules()
                        if any(p is not None and flat.holds(p) for p in layer._parameters.values())]

    @contextlib.contextmanager
    def _recording(self, calls: list[_Call]) -> Iterator[None]:
        def record(layer: torch.nn.Module, inputs: Any, output: Any) -> Any:
            kept, outputs = _tensors(inputs), _tensors(output)
            if not any(tensor.requires_grad for tensor in outputs):
                return None
            if not isinstance(output, torch.Tensor):
                # Of several outputs one may be computed from another: slopes are those of what the layer gives away.
                output = outputs = tuple(x.view_as(x) for x in outputs)
            if self._copies:  # later layers write into what they get
                kept = tuple(tensor.detach().clone() for tensor in kept)
                output = outputs[0].clone() if isinstance(output, torch.Tensor) else tuple(x.clone() for x in outputs)
            calls.append(_Call(layer, kept, outputs, _versions(kept + outputs)))
            return output

        known = self.unsafe is None
        if known and unsafe_part(self._model) is not None:
            raise ModelError(f"model: {unsafe_part(self._model)}, and did not when training began; use gradients='vectorised'")
        handles = [layer.register_forward_pre_hook(refuse_call) for layer in self._model.modules() if known]
        handles += [layer.register_forward_hook(record) for layer in self._layers]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _run(self, batch: Batch) -> tuple[list[_Call], torch.Tensor]:
        calls: list[_Call] = []
        with torch.enable_grad(), self._recording(calls):
            losses = self._loss(self._model(*batch.inputs), batch.targets, batch.records)
        return calls, losses

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        calls, losses = self._run(batch)
        if not self._copies and any(call.changed() for call in calls):
            self._copies = True
            calls, losses = self._run(batch)
        outputs = [output for call in calls for output in call.outputs]
        found = iter(torch.autograd.grad(losses.sum(), outputs, allow_unused=True) if outputs else ())
        rows = GradientRows(matrix, self._flat)
        with torch.no_grad():
            for call in calls:
                self._add(call, [next(found) for _ in call.outputs], batch.records, rows)
            rows.close()

    @staticmethod
    def _add(call: _Call, slopes: list[Optional[torch.Tensor]], records: int, rows: GradientRows) -> None:
        if all(slope is None for slope in slopes):
            return
        full = tuple(torch.zeros_like(output) if slope is None else slope for slope, output in zip(slopes, call.outputs))
        inputs = tuple(value.detach() for value in call.inputs)
        if any(value.dim() == 0 or len(value) != records for value in (*inputs, *full)):
            raise ModelError(f"model: {type(call.layer).__name__} works on tensors whose first axis is not the records'; "
                             "use gradients='auto'")
        RULES[type(call.layer)](call.layer, inputs, full, rows)


def _vectorisation() -> tuple[Callable[..., Any], Callable[..., Any]]:
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


class VectorisedGradients:
    """torch's own vectorisation (torch.func, or functorch): every record by itself, all at once.

    Works for layers without rules too, where torch can vectorise all their operations. Every record has parameters of its
    own, whose gradients one backward pass finds. Randomness (Dropout) differs from record to record. A batch that torch
    cannot vectorise after all, as where a branch of the model is taken first, has its records one by one.

    :raises ModelError: this torch has neither torch.func nor functorch.
    """

    name = "vectorised"
    unsafe: Optional[str] = None

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        vmap, self._call = _vectorisation()
        self._model = model
        self._loss = loss
        self._flat = flat
        number = {id(parameter): i for i, parameter in enumerate(flat.parameters)}
        self._names = [(f"{prefix}.{name}" if prefix else name, number[id(parameter)])
                       for prefix, layer in model.named_modules(remove_duplicate=False)
                       for name, parameter in layer._parameters.items()
                       if parameter is not None and flat.holds(parameter)]
        self._losses = vmap(self._one, randomness="different")
        self._single = SingleGradients(model, loss, flat)
        self._told = False

    def _one(self, parameters: Tensors, inputs: Tensors, target: torch.Tensor) -> torch.Tensor:
        named = {name: parameters[i] for name, i in self._names}
        outputs = self._call(self._model, named, tuple(value.unsqueeze(0) for value in inputs))
        return self._loss(outputs, target.unsqueeze(0), 1).sum()

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        try:
            self.vectorise(batch, matrix)
        except ModelError:
            raise
        except FAILURES as failure:
            self._single.fill(batch, matrix)
            if not self._told:
                print(f"sotto.torch: a batch was taken one by one, since torch cannot vectorise it: {first_line(failure)}", file=sys.stderr)
            self._told = True

    def vectorise(self, batch: Batch, matrix: torch.Tensor) -> None:
        """The same, or what torch raises for operations that it cannot vectorise."""
        own = tuple(p.detach().expand(batch.records, *p.shape).requires_grad_() for p in self._flat.parameters)
        with torch.enable_grad():
            losses = self._losses(own, batch.inputs, batch.targets)
        _write(torch.autograd.grad(losses.sum(), own, allow_unused=True), self._flat, matrix)


def first_line(failure: BaseException) -> str:
    """What an error says first."""
    return (str(failure).strip().splitlines() or [type(failure).__name__])[0]


def _write(gradients: tuple[Optional[torch.Tensor], ...], flat: FlatParameters, matrix: torch.Tensor) -> None:
    """Gradients of all parameters (of B records each) into their columns; zeros where there is none."""
    for parameter, gradient in zip(flat.parameters, gradients):
        columns = matrix[:, flat.place(parameter)]
        if gradient is None:
            columns.zero_()
        else:
            columns.copy_(gradient.reshape(len(matrix), -1))


class SingleGradients:
    """One forward and backward pass a record. Right for every model; slow."""

    name = "one-by-one"
    unsafe: Optional[str] = None

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        self._model = model
        self._loss = loss
        self._flat = flat

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        for i in range(batch.records):
            sum_gradient(self._model, self._loss, self._flat, batch.record(i), matrix[i])


def sum_gradient(model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters, batch: Batch, row: torch.Tensor) -> None:
    """Writes the gradient of the sum of the losses of a batch into row (d), by one backward pass."""
    with torch.enable_grad():
        losses = loss(model(*batch.inputs), batch.targets, batch.records)
        found = torch.autograd.grad(losses.sum(), flat.parameters, allow_unused=True)
    _write(found, flat, row.unsqueeze(0))


WAYS: dict[str, Callable[[torch.nn.Module, RecordLoss, FlatParameters], RecordGradients]] = {
    HookGradients.name: HookGradients, VectorisedGradients.name: VectorisedGradients, SingleGradients.name: SingleGradients}
