#pragma once

// Fourier transforms of real sequences (docs/decisions/fft.md).

#include <complex>
#include <cstddef>
#include <vector>

namespace sotto {

using Spectrum = std::vector<std::complex<double>>;

/// Smallest length >= at_least that is fast to transform: even, no prime factor above 5.
[[nodiscard]] std::size_t transform_length(std::size_t at_least);

/// The first n/2 + 1 values of  X_k = sum_j x_j e^(-2 pi i j k / n); the others are their
/// conjugates. Thread-safe.  Cost: O(n log n).
/// @param values n of them, n even.
[[nodiscard]] Spectrum real_spectrum(const std::vector<double>& values);
/// Inverse of real_spectrum: n values from n/2 + 1.
[[nodiscard]] std::vector<double> from_real_spectrum(const Spectrum& spectrum);

/// Bound on the rounding errors of either transform of n values: the 2-norm of the error relative
/// to that of the result, and the error of each value of the result relative to the 1-norm of the
/// input. Four times Higham's bound of a pass (Accuracy and Stability, Theorem 24.2;
/// docs/decisions/fft.md), since radices 3, 4 and 5 do more in a pass, with one more pass for
/// packing real values.
[[nodiscard]] double transform_error(std::size_t length);

}  // namespace sotto
