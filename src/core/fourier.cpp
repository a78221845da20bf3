#include "core/fourier.hpp"

#include <cmath>
#include <unsupported/Eigen/FFT>

namespace sotto {

namespace {

using Transform = Eigen::FFT<double>;

/// Caches its tables of sines by length.
Transform& transform_of_this_thread() {
    thread_local Transform transform(Transform::impl_type(), Transform::HalfSpectrum);
    return transform;
}

}  // namespace

std::size_t transform_length(std::size_t at_least) {
    std::size_t best = 2;
    while (best < at_least) best *= 2;
    for (const std::size_t odd : {3U, 5U, 9U, 15U}) {
        std::size_t length = 2 * odd;
        while (length < at_least) length *= 2;
        if (length < best) best = length;
    }
    return best;
}

Spectrum real_spectrum(const std::vector<double>& values) {
    Spectrum spectrum(values.size() / 2 + 1);
    transform_of_this_thread().fwd(
        spectrum.data(), values.data(), static_cast<Eigen::Index>(values.size()));
    return spectrum;
}

std::vector<double> from_real_spectrum(const Spectrum& spectrum) {
    std::vector<double> values(2 * (spectrum.size() - 1));
    transform_of_this_thread().inv(
        values.data(), spectrum.data(), static_cast<Eigen::Index>(values.size()));
    return values;
}

double transform_error(std::size_t length) {
    constexpr double unit = 0x1p-53;
    return 32 * unit * (std::log2(static_cast<double>(length)) + 1);
}

}  // namespace sotto
