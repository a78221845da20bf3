#include "net/message_precision.hpp"

#include <algorithm>
#include <limits>

namespace sotto {

std::size_t value_size(MessagePrecision precision) {
    return precision == MessagePrecision::float32 ? sizeof(float) : sizeof(double);
}

double largest_value(MessagePrecision precision) {
    return precision == MessagePrecision::float32
               ? static_cast<double>(std::numeric_limits<float>::max())
               : std::numeric_limits<double>::max();
}

double unit_roundoff(MessagePrecision precision) {
    return precision == MessagePrecision::float32 ? 0x1p-24 : 0;
}

void round_to_precision(std::span<double> values, MessagePrecision precision) {
    if (precision == MessagePrecision::float64) return;
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
}

void narrow(std::span<const double> values, float* narrow) {
    std::ranges::transform(values, narrow, [](double value) { return static_cast<float>(value); });
}

void widen(std::span<const float> narrow, double* values) {
    std::ranges::transform(narrow, values, [](float value) { return static_cast<double>(value); });
}

}  // namespace sotto
