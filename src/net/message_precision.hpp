#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sotto/core/names.hpp"

namespace sotto {

/// Values of messages on the wire: IEEE 754 binary64 or binary32, or whole numbers, most of them in
/// 4 bits (nibbles.hpp).
enum class MessagePrecision : std::uint8_t { float64, float32, nibble };
inline constexpr NameTable<MessagePrecision, 3> message_precisions{
    {{{MessagePrecision::nibble, "nibble"},
      {MessagePrecision::float32, "float32"},
      {MessagePrecision::float64, "float64"}}}};

/// Bytes of a piece of a message. Nibbles: without whole numbers that find no room in it.
[[nodiscard]] std::size_t piece_bytes(MessagePrecision precision, std::size_t values);
/// Bytes of a message that goes in pieces of `longest` values.
[[nodiscard]] std::size_t message_bytes(MessagePrecision precision,
                                        std::size_t values,
                                        std::size_t longest);
[[nodiscard]] double largest_value(MessagePrecision precision);
/// Rounding changes a value by at most this part of it, or by 2^-150 if that is more: 2^-24 for
/// float32, 0 for float64. Not of nibbles, which are whole numbers.
[[nodiscard]] double unit_roundoff(MessagePrecision precision);

/// Rounds to nearest, ties to even. @param values within -largest_value and largest_value.
void round_to_precision(std::span<double> values, MessagePrecision precision);

/// @param values already rounded to float32.  @param narrow of the same size.
void narrow(std::span<const double> values, float* narrow);
/// Inverse of narrow. @param values of the same size.
void widen(std::span<const float> narrow, double* values);

}  // namespace sotto
