#include "net/message_precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "net/nibbles.hpp"

namespace sotto {

std::size_t piece_bytes(MessagePrecision precision, std::size_t values) {
    switch (precision) {
        case MessagePrecision::nibble:
            return nibble_block_bytes(values);
        case MessagePrecision::float32:
            return values * sizeof(float);
        case MessagePrecision::float64:
            break;
    }
    return values * sizeof(double);
}

std::size_t message_bytes(MessagePrecision precision, std::size_t values, std::size_t longest) {
    const std::size_t rest = values % longest;
    return values / longest * piece_bytes(precision, longest) +
           (rest > 0 ? piece_bytes(precision, rest) : 0);
}

double largest_value(MessagePrecision precision) {
    switch (precision) {
        case MessagePrecision::nibble:
            return largest_code;
        case MessagePrecision::float32:
            return std::numeric_limits<float>::max();
        case MessagePrecision::float64:
            break;
    }
    return std::numeric_limits<double>::max();
}

double unit_roundoff(MessagePrecision precision) {
    return precision == MessagePrecision::float32 ? 0x1p-24 : 0;
}

void round_to_precision(std::span<double> values, MessagePrecision precision) {
    if (precision == MessagePrecision::float32)
        for (double& value : values) value = static_cast<double>(static_cast<float>(value));
    if (precision == MessagePrecision::nibble)
        for (double& value : values) value = std::nearbyint(value);
}

void narrow(std::span<const double> values, float* narrow) {
    std::ranges::transform(values, narrow, [](double value) { return static_cast<float>(value); });
}

void widen(std::span<const float> narrow, double* values) {
    std::ranges::transform(narrow, values, [](float value) { return static_cast<double>(value); });
}

}  // namespace sotto
