#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sotto/core/names.hpp"

namespace sotto {

/// Values of messages on the wire: IEEE 754 binary64 or binary32.
enum class MessagePrecision : std::uint8_t { float64, float32 };
inline constexpr NameTable<MessagePrecision, 2> message_precisions{
    {{{MessagePrecision::float64, "float64"}, {MessagePrecision::float32, "float32"}}}};

[[nodiscard]] std::size_t value_size(MessagePrecision precision);
[[nodiscard]] double largest_value(MessagePrecision precision);
/// Rounding changes a value by at most this part of it, or by 2^-150 if that is more: 2^-24 for
/// float32, 0 for float64.
[[nodiscard]] double unit_roundoff(MessagePrecision precision);

/// Rounds to nearest, ties to even. @param values within -largest_value and largest_value.
void round_to_precision(std::span<double> values, MessagePrecision precision);

/// @param values already rounded to float32.  @param narrow of the same size.
void narrow(std::span<const double> values, float* narrow);
/// Inverse of narrow. @param values of the same size.
void widen(std::span<const float> narrow, double* values);

}  // namespace sotto
