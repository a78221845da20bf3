#pragma once

// Fourier transforms of real sequences (docs/decisions/fft.md).

#include <complex>
#include <cstddef>
#include <vector>

namespace sotto {

using Spectrum = std::vector<std::complex<double>>;

/// Smallest length that is fast to transform (even, no prime factor above 5), at least this long.
[[nodiscard]] std::size_t transform_length(std::size_t at_least);

/// The first n/2 + 1 values of  X_k = sum_j x_j e^(-2 pi i j k / n); the others are their
/// conjugates.
/// @param values n of them, n even.  Cost: O(n log n). Any thread may call it.
[[nodiscard]] Spectrum real_spectrum(const std::vector<double>& values);
/// Its inverse: n values from n/2 + 1.
[[nodiscard]] std::vector<double> from_real_spectrum(const Spectrum& spectrum);

/// Bound of the rounding errors of either transform of n values: 2-norm of the error as a share of
/// the 2-norm of the result. Every pass over the values errs by at most eta = mu + gamma_4
/// (sqrt(2) + mu) (Higham, Accuracy and Stability, Theorem 24.2), below 8 units of rounding with
/// factors of sine and cosine that are off by mu <= 1 unit; taken four times as large, with a pass
/// more for packing real values, since radices 3, 4 and 5 do more in a pass. It also bounds the
/// error of every single value of the result as a share of the 1-norm of what is transformed: each
/// is the root of a tree of so many passes, whose inner values are at most parts of that norm.
[[nodiscard]] double transform_error(std::size_t length);

}  // namespace sotto
