"""What gradients of records are made of, where they are not formed: their norms, and their sums with weights.

The gradient of every record by a parameter of N numbers is kept as terms of one of four kinds. Each gives the squared norms
of its records (B,), the sum over records times weights, and the gradients themselves (B, N) where they are asked for. Norms
from products of activations and slopes: Goodfellow 2015; over positions: Li, Tramer, Liang, Hashimoto 2022; the sum with
weights from what is kept, without a second backward pass: Bu, Wang, Zha, Karypis 2023.
"""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Protocol, Sequence

import torch

_AT_ONCE = 1 << 20  # numbers of gradients that are formed at a time
_MOST_SLACK = 1e-3  # of a squared norm; beyond, its gradients are formed


class Term(Protocol):
    """A part of the gradients of B records by one parameter of N numbers."""

    def measured(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Squared norms (B,), and the norms, or what these would be if nothing in products cancelled, to bound rounding."""

    def weigh(self, weights: torch.Tensor, total: torch.Tensor, beta: int) -> None:
        """total (N) = beta total + the sum over records, each times its weight (B,); with beta 0 whatever total was."""

    def rows(self) -> torch.Tensor:
        """The gradients, (B, N)."""

    def select(self, places: torch.Tensor) -> Any:
        """The same of the records at these places."""


def _squares(values: torch.Tensor) -> torch.Tensor:
    """Sums of squares over all axes but the first."""
    found: torch.Tensor = torch.linalg.vector_norm(values.flatten(1), dim=1)
    return found.square()


def _exactly(squares: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return squares, squares.sqrt()


class Rows(NamedTuple):
    """Gradients that are formed: values (B, N)."""

    values: torch.Tensor

    def measured(self) -> tuple[torch.Tensor, torch.Tensor]:
        return _exactly(_squares(self.values))

    def weigh(self, weights: torch.Tensor, total: torch.Tensor, beta: int) -> None:
        total.addmv_(self.values.t(), weights, beta=beta)

    def rows(self) -> torch.Tensor:
        return self.values

    def select(self, places: torch.Tensor) -> Rows:
        return Rows(self.values[places])


class Products(NamedTuple):
    """Of a matrix (or G of them, one below the other, of m x k): slopes (B, G, T, m) and values (B, G, T, k) over T positions.

    The gradient of a record is slopes^T values, its squared norm (slopes slopes^T) . (values values^T).
    """

    slopes: torch.Tensor
    values: torch.Tensor

    def _flat(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.slopes.flatten(0, 1), self.values.flatten(0, 1)

    def measured(self) -> tuple[torch.Tensor, torch.Tensor]:
        slopes, values = self._flat()
        if self.slopes.shape[2] == 1:
            return _exactly((_squares(slopes) * _squares(values)).view(self.slopes.shape[:2]).sum(1))
        of_slopes, of_values = (torch.bmm(x, x.transpose(1, 2)) for x in (slopes, values))
        sizes = (of_slopes.diagonal(0, 1, 2) * of_values.diagonal(0, 1, 2)).sqrt().view(len(self.slopes), -1).sum(1)
        return of_slopes.mul_(of_values).view(len(self.slopes), -1).sum(1), sizes

    def weigh(self, weights: torch.Tensor, total: torch.Tensor, beta: int) -> None:
        slopes, values = self.slopes, self.values
        if slopes.shape[3] <= values.shape[3]:
            slopes = slopes * weights.view(-1, 1, 1, 1)
        else:
            values = values * weights.view(-1, 1, 1, 1)
        groups, width, inputs = slopes.shape[1], slopes.shape[3], values.shape[3]
        shaped = total.view(groups, width, inputs)
        if beta == 0 and slopes.shape[0] * slopes.shape[2] == 1:  # torch's product of such matrices writes twice
            torch.mul(slopes.view(groups, width, 1), values.reshape(groups, 1, inputs), out=shaped)
            return
        for group in range(groups):
            shaped[group].addmm_(slopes[:, group].reshape(-1, width).t(), values[:, group].reshape(-1, inputs), beta=beta)

    def rows(self) -> torch.Tensor:
        slopes, values = self._flat()
        return torch.bmm(slopes.transpose(1, 2), values).view(len(self.slopes), -1)

    def select(self, places: torch.Tensor) -> Products:
        return Products(self.slopes[places], self.values[places])

    def is_larger_than_rows(self) -> bool:
        """Whether the gradients take no more memory, or work, than these factors."""
        positions, width, inputs = self.slopes.shape[2], self.slopes.shape[3], self.values.shape[3]
        return positions * (width + inputs) >= width * inputs


class Places(NamedTuple):
    """Of a table with `lines` rows of w numbers: values (B, n, w) for its rows index (B, n)."""

    lines: int
    index: torch.Tensor
    values: torch.Tensor

    def measured(self) -> tuple[torch.Tensor, torch.Tensor]:
        records, count = self.index.shape
        if count <= 1:
            return _exactly(_squares(self.values))
        ordered, order = self.index.sort(1)
        line = torch.zeros_like(ordered)
        line[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]).cumsum(1)  # equal indices of a record have the same line
        line += count * torch.arange(records, device=line.device).unsqueeze(1)
        line = torch.empty_like(line).scatter_(1, order, line)
        sums = self.values.new_zeros(records * count, self.values.shape[2])
        sums.index_add_(0, line.view(-1), self.values.flatten(0, 1))
        return _exactly(_squares(sums.view(records, -1)))

    def weigh(self, weights: torch.Tensor, total: torch.Tensor, beta: int) -> None:
        if beta == 0:
            total.zero_()
        values = self.values * weights.view(-1, 1, 1)
        total.view(self.lines, -1).index_add_(0, self.index.reshape(-1), values.flatten(0, 1))

    def rows(self) -> torch.Tensor:
        records, width = len(self.index), self.values.shape[2]
        line = self.index + self.lines * torch.arange(records, device=self.index.device).unsqueeze(1)
        found = self.values.new_zeros(records * self.lines, width)
        return found.index_add_(0, line.view(-1), self.values.flatten(0, 1)).view(records, -1)

    def select(self, places: torch.Tensor) -> Places:
        return Places(self.lines, self.index[places], self.values[places])

    def times(self, product: Products) -> torch.Tensor:
        """(B,): inner products with gradients of the same table by products (of one group)."""
        slopes, values = product.slopes[:, 0], product.values[:, 0]
        index = self.index.unsqueeze(1).expand(-1, slopes.shape[1], -1)
        return (slopes.gather(2, index) * torch.bmm(values, self.values.transpose(1, 2))).sum((1, 2))


class Convolutions(NamedTuple):
    """Of a convolution's weights: padded images (B, channels, ...) and slopes (B, m, ...), by torch's own products.

    `weight(images, slopes)` is the gradient of a sum over records (N), `rows_of` of each (B, N), `patches(images)` what each
    output is a product with (B, G, T, k).
    """

    images: torch.Tensor
    slopes: torch.Tensor
    groups: int
    weight: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    rows_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    patches: Callable[[torch.Tensor], torch.Tensor]

    def products(self) -> Products:
        """The same as products of patches."""
        return Products(self.slopes.flatten(2).unflatten(1, (self.groups, -1)).transpose(2, 3), self.patches(self.images))

    def measured(self) -> tuple[torch.Tensor, torch.Tensor]:
        """A few records at a time, whose patches or gradients stay small."""
        one = self.select(torch.zeros(1, dtype=torch.int64, device=self.slopes.device)).products()
        count = max(1, _AT_ONCE // max(1, one.values.numel()))
        found = []
        for images, slopes in zip(self.images.split(count), self.slopes.split(count)):
            part = self._replace(images=images, slopes=slopes)
            found.append(Rows(part.rows()).measured() if one.is_larger_than_rows() else part.products().measured())
        return torch.cat([squares for squares, _ in found]), torch.cat([sizes for _, sizes in found])

    def weigh(self, weights: torch.Tensor, total: torch.Tensor, beta: int) -> None:
        found = self.weight(self.images, self.slopes * weights.view(-1, *[1] * (self.slopes.dim() - 1)))
        total.copy_(found) if beta == 0 else total.add_(found)

    def rows(self) -> torch.Tensor:
        return self.rows_of(self.images, self.slopes)

    def select(self, places: torch.Tensor) -> Convolutions:
        return self._replace(images=self.images[places], slopes=self.slopes[places])


class ParameterGradients:
    """The gradients of B records by one parameter, from all terms of all layers and calls that use it."""

    def __init__(self, terms: Sequence[Any]) -> None:
        products = [term for term in terms if isinstance(term, Products)]
        places = [term for term in terms if isinstance(term, Places)]
        rest = [term for term in terms if not isinstance(term, (Products, Places))]
        found: list[Any] = []
        if products:
            joined = products[0] if len(products) == 1 else Products(
                torch.cat([term.slopes for term in products], 2), torch.cat([term.values for term in products], 2))
            found.append(Rows(joined.rows()) if joined.is_larger_than_rows() else joined)
        if places:
            found.append(places[0] if len(places) == 1 else Places(
                places[0].lines, torch.cat([term.index for term in places], 1), torch.cat([term.values for term in places], 1)))
        found += rest
        kinds = [type(term) for term in found]
        if len(found) > 1 and (kinds != [Products, Places] or found[0].slopes.shape[1] > 1):
            found = [Rows(sum(term.rows() for term in found))]
        self._terms = found

    def squared_norms(self) -> torch.Tensor:
        """(B,), in double precision: not less than what they are, up to the rounding of a few numbers."""
        squares, sizes = self._terms[0].measured()
        found = squares.double()
        if len(self._terms) == 2:
            product, place = self._terms
            squares, others = place.measured()
            found = found + squares + 2 * place.times(product)
            sizes = sizes + others
        slack = 4 * torch.finfo(sizes.dtype).eps * sizes.double().square()
        if bool((slack > _MOST_SLACK * found).any()):  # gradients of positions that cancel
            return self._formed_norms(len(sizes))
        return found + slack

    def _formed_norms(self, records: int) -> torch.Tensor:
        parts = torch.arange(records, device=self._terms[0].select(slice(0, 1)).rows().device)
        count = max(1, _AT_ONCE // self.rows(parts[:1]).shape[1])
        return torch.cat([_squares(self.rows(part)).double() for part in parts.split(count)])

    def weigh(self, weights: torch.Tensor, total: torch.Tensor) -> None:
        """Writes the sum over records, each times its weight (B,), into total (N)."""
        for i, term in enumerate(self._terms):
            term.weigh(weights, total, min(i, 1))

    def rows(self, places: torch.Tensor) -> torch.Tensor:
        """The gradients of the records at these places, (places, N)."""
        found: torch.Tensor = sum(term.select(places).rows() for term in self._terms)
        return found

    def select(self, places: torch.Tensor) -> ParameterGradients:
        """The same of the records at these places."""
        found = ParameterGradients.__new__(ParameterGradients)
        found._terms = [term.select(places) for term in self._terms]
        return found
