"""Sums of clipped gradients without the gradients: norms from each layer's inputs and slopes, then one product a layer."""
from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import torch

from .data import Batch
from .dropout import Masks, replaced
from .errors import ModelError
from .flat import FlatParameters
from .layers import RULES, Found, Tensors, product
from .losses import RecordLoss
from .recordwise import refuse_call, unsafe_part
from .sums import RecordSum
from .terms import ParameterGradients, Rows
from .unrolled import UNROLLED
from .vectorised import vectorisation

_NAMES = {"weight", "bias", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}


class _Call(NamedTuple):
    """Inputs and outputs of one call of a layer, or of one product in it, and its rule."""

    name: str
    inputs: Tensors
    outputs: Tensors
    rule: Callable[[Tensors, Tensors], Found]
    versions: tuple[int, ...]
    first: bool  # nothing that it was called with depends on parameters

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


class _Slopes:
    """The slopes of the outputs of one call, as the backward pass comes to them. `use` has them once all are known: what is done
    with needs no memory then.

    The backward pass comes by itself to all outputs but those that depend on no other call's: `asked` are those.
    """

    def __init__(self, call: _Call, use: Callable[[_Call, list[Optional[torch.Tensor]]], None]) -> None:
        self._call: Optional[_Call] = call
        self._use = use
        self._found: list[Optional[torch.Tensor]] = [None] * len(call.outputs)
        self._left = len(call.outputs)
        self.asked = [i for i, output in enumerate(call.outputs) if call.first or output.is_leaf]
        for i, output in enumerate(call.outputs):
            if i not in self.asked:
                output.register_hook(functools.partial(self.take, i))

    def output(self, i: int) -> torch.Tensor:
        """Before the backward pass."""
        assert self._call is not None
        return self._call.outputs[i]

    def take(self, i: int, slope: torch.Tensor) -> None:
        """The slope of output i is known."""
        self._found[i] = slope
        self._left -= 1
        if self._left == 0:
            self.finish()

    def finish(self) -> None:
        """Outputs without a slope have no effect."""
        call, found = self._call, self._found
        self.forget()
        if call is not None:
            self._use(call, found)

    def forget(self) -> None:
        """Nothing is needed any more."""
        self._call, self._found = None, []


class Tape:
    """The calls of a forward pass whose slopes are needed.

    :param copies: keep copies of inputs and outputs, since later layers write into them.
    """

    def __init__(self, copies: bool) -> None:
        self.calls: list[_Call] = []
        self.masks = Masks()
        self._copies = copies
        self._name = ""

    def watch(self, inputs: Tensors, outputs: Tensors, rule: Callable[[Tensors, Tensors], Found], first: Optional[bool] = None) -> None:
        """Keeps what `rule` needs to find terms once the slopes of the outputs are known.

        :param first: whether the outputs depend on no other call's; None: as the inputs say.
        """
        alone = not any(tensor.requires_grad for tensor in inputs) if first is None else first
        self.calls.append(_Call(self._name, inputs, outputs, rule, _versions(inputs + outputs), alone))

    def product(self, values: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
        """values (B, ..., in) times a matrix (out x in) plus a bias."""
        found = torch.nn.functional.linear(values, weight, bias)
        self.watch((values,), (found,), lambda inputs, slopes: product(weight, bias, inputs[0], slopes[0]))
        return found

    def dropout(self, values: torch.Tensor, share: float, training: bool) -> torch.Tensor:
        """Dropout whose masks are kept."""
        return self.masks.dropout(values, share, training)

    def run(self, layer: Any, forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
        """Calls a layer, and keeps what its rule needs."""
        self._name = type(layer).__name__
        if type(layer) in UNROLLED:
            return self._apart(UNROLLED[type(layer)](layer, self, *self._apart(inputs), **named))
        output = forward(*inputs, **named)
        outputs = _tensors(output)
        if not any(tensor.requires_grad for tensor in outputs):
            return output
        if named:
            raise ModelError(f"model: {self._name} is called with arguments by name ({', '.join(named)}); give them by place, "
                             "or use gradients='auto'")
        if not isinstance(output, torch.Tensor):
            # Of several outputs one may be computed from another: slopes are those of what the layer gives away.
            output = outputs = tuple(x.view_as(x) for x in outputs)
        kept = _tensors(inputs)
        first = not any(tensor.requires_grad for tensor in kept)
        if self._copies:
            kept = tuple(tensor.detach().clone() for tensor in kept)
            output = outputs[0].clone() if isinstance(output, torch.Tensor) else tuple(x.clone() for x in outputs)
        self.watch(kept, outputs, functools.partial(RULES[type(layer)] if _has_rule(layer) else _by_record, layer), first)
        return output

    def _apart(self, values: Any) -> Any:
        """Copies of tensors in nested tuples, one for each, where copies are needed."""
        if not self._copies:
            return values
        copies = {id(tensor): tensor.clone() for tensor in _tensors(values)}

        def copied(value: Any) -> Any:
            return tuple(copied(x) for x in value) if isinstance(value, (list, tuple)) else copies.get(id(value), value)

        return copied(values)


def _has_rule(layer: torch.nn.Module) -> bool:
    """Whether a layer's very class has a rule, and its parameters are its own."""
    own = {key for key, value in layer._parameters.items() if value is not None}
    return type(layer) in RULES and own <= _NAMES


def _by_record(layer: torch.nn.Module, inputs: Tensors, slopes: Tensors) -> Found:
    """Rule of any other layer without layers in it: it is run again, on all records at once, each with parameters of its own."""
    vmap, call = vectorisation()
    names = [name for name, value in layer._parameters.items() if value is not None]
    parameters = [layer._parameters[name] for name in names]

    def one(own: Tensors, given: Tensors) -> Tensors:
        return _tensors(call(layer, dict(zip(names, own)), tuple(value.unsqueeze(0) for value in given)))

    own = tuple(p.detach().expand(len(slopes[0]), *p.shape).requires_grad_() for p in parameters)  # type: ignore[union-attr]
    with torch.enable_grad():
        outputs = vmap(one)(own, inputs)
    found = torch.autograd.grad([x for x in outputs], own, [x.reshape(y.shape) for x, y in zip(slopes, outputs)], allow_unused=True)
    for parameter, rows in zip(parameters, found):
        if rows is not None:
            yield parameter, lambda rows=rows: Rows(rows.flatten(1))  # type: ignore[misc]


def layers_without_rule(model: torch.nn.Module) -> list[str]:
    """Names and kinds of layers with trainable parameters of their own for which there is no rule: such as have other layers
    in them too, beside torch's own whole recurrent layers and attention."""
    return [f"{name or 'the model itself'} ({type(layer).__name__})" for name, layer in model.named_modules()
            if any(p is not None and p.requires_grad for p in layer._parameters.values())
            and type(layer) not in UNROLLED and not _has_rule(layer) and any(True for _ in layer.children())]


class GhostGradients:
    """One forward and one backward pass of the batch by the outputs of layers; rules give norms and weighted sums.

    Costs little more than the gradient of the whole batch, in time and memory. Right for models in which no record has an
    effect on another one's loss: by construction where `recordwise` knows all modules and the loss, which every batch is
    held to; otherwise by the user's word.

    :raises ModelError: a layer with trainable parameters has no rule.
    """

    name = "ghost"

    def __init__(self, model: torch.nn.Module, loss: RecordLoss, flat: FlatParameters) -> None:
        missing = layers_without_rule(model)
        if missing:
            raise ModelError(f"gradients: no ghost norms for {', '.join(missing)}; put such parameters into a layer of their own, "
                             "or use gradients='auto'")
        self._model = model
        self._loss = loss
        self._flat = flat
        self._total = torch.empty_like(flat.vector)
        self._copies = False
        self.unsafe = unsafe_part(model) or loss.unsafe_part()
        inner = {id(part) for layer in model.modules() if type(layer) in UNROLLED for part in layer.modules() if part is not layer}
        self._layers = [layer for layer in model.modules() if id(layer) not in inner
                        and any(flat.holds(p) for part in ([layer] if type(layer) not in UNROLLED else layer.modules())
                                for p in part._parameters.values())]

    @contextlib.contextmanager
    def _recording(self) -> Iterator[Tape]:
        known = self.unsafe is None
        if known and unsafe_part(self._model) is not None:
            raise ModelError(f"model: {unsafe_part(self._model)}, and did not when training began; use gradients='vectorised'")
        tape = Tape(self._copies)
        handles = [layer.register_forward_pre_hook(refuse_call) for layer in self._model.modules() if known]
        forwards = [(layer, functools.partial(tape.run, layer, layer.forward)) for layer in self._layers]
        forwards += [(layer, functools.partial(tape.masks.run, layer, layer.forward))
                     for layer in Masks.layers(self._model) if type(layer) not in UNROLLED]
        try:
            with replaced(forwards):
                yield tape
        finally:
            for handle in handles:
                handle.remove()

    def _run(self, batch: Batch) -> tuple[Tape, torch.Tensor]:
        with torch.enable_grad(), self._recording() as tape:
            losses = self._loss(self._model(*(values.detach() for values in batch.inputs)), batch.targets, batch.records)
        return tape, losses

    def find(self, batch: Batch) -> RecordSum:
        """What gives norms and weighted sums of the gradients of the losses of B >= 1 records."""
        tape, losses = self._run(batch)
        if not self._copies and any(call.changed() for call in tape.calls):
            self._copies = True
            tape, losses = self._run(batch)
        terms = self._terms(tape, losses, batch.records)
        places = {id(parameter): self._flat.place(parameter) for parameter in self._flat.parameters}
        return RecordSum({key: ParameterGradients(parts) for key, parts in terms.items()}, places, self._total, batch.records,
                         tape.masks)

    def _terms(self, tape: Tape, losses: torch.Tensor, records: int) -> dict[int, list[Any]]:
        """What the gradients by each parameter are made of, found in the course of the backward pass."""
        terms: dict[int, list[Any]] = {}
        calls = [_Slopes(call, lambda call, slopes: self._add(call, slopes, records, terms)) for call in tape.calls]
        tape.calls.clear()
        try:
            asked = [(call, i) for call in calls for i in call.asked]
            outputs = [call.output(i) for call, i in asked]
            found = list(torch.autograd.grad(losses.sum(), outputs, allow_unused=True) if outputs else ())
            for (call, i), slope in zip(asked, found):
                if slope is not None:
                    call.take(i, slope)
            for call in reversed(calls):
                call.finish()
        finally:
            for call in calls:
                call.forget()
        return terms

    @torch.no_grad()
    def _add(self, call: _Call, slopes: Sequence[Optional[torch.Tensor]], records: int, terms: dict[int, list[Any]]) -> None:
        if all(slope is None for slope in slopes):
            return
        full = tuple(torch.zeros_like(output) if slope is None else slope for slope, output in zip(slopes, call.outputs))
        inputs = tuple(value.detach() for value in call.inputs)
        if any(value.dim() == 0 or len(value) != records for value in (*inputs, *full)):
            raise ModelError(f"model: {call.name} works on tensors whose first axis is not the records'; use gradients='auto'")
        for parameter, term in call.rule(inputs, full):
            if parameter is not None and self._flat.holds(parameter):
                terms.setdefault(id(parameter), []).append(term())

    def fill(self, batch: Batch, matrix: torch.Tensor) -> None:
        """Writes the gradients of the losses of B >= 1 records into matrix, B x d."""
        self.find(batch).fill(range(batch.records), matrix)
