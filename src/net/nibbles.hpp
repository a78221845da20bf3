#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sotto {

/// Whole numbers as they are sent with MessagePrecision::nibble, a piece of a message at a time.
/// Numbers from -7 to 7 take 4 bits; -8 stands for any other, which follows in 32 bits. A block has
/// the same size whatever it holds:
///
///     how many numbers took 32 bits (32 bits) | the first of these, in order | 4 bits a number.
///
/// It has room for nibble_room of them; the rest are sent after it, only where there are any. Bytes
/// are those of a little-endian machine.
inline constexpr int largest_nibble = 7;
/// Numbers are within -largest_code and largest_code, those of 32 bits.
inline constexpr double largest_code = 0x1p31 - 1;

/// Numbers of 32 bits in a block of `count`: twice as many as normal values have beyond 3.1
/// standard deviations, and two.
[[nodiscard]] constexpr std::size_t nibble_room(std::size_t count) {
    const std::size_t room = count / 512 + 2;
    return room < count ? room : count;
}
[[nodiscard]] constexpr std::size_t nibble_block_bytes(std::size_t count) {
    return sizeof(std::uint32_t) + nibble_room(count) * sizeof(std::int32_t) + (count + 1) / 2;
}

/// @param codes whole numbers within -largest_code and largest_code.
/// @param block nibble_block_bytes of their number.
/// @param rest replaced by the numbers that find no room in the block.
void pack_nibbles(std::span<const double> codes,
                  std::span<std::byte> block,
                  std::vector<std::int32_t>& rest);

/// How many numbers follow a received block of `count`.
/// @throws DataError if it says that more than `count` took 32 bits.
[[nodiscard]] std::size_t nibbles_after(std::span<const std::byte> block, std::size_t count);

/// Inverse of pack_nibbles. @param rest nibbles_after numbers.
/// @throws DataError unless as many numbers took 32 bits as the block says, and all are within
/// -largest_code and largest_code.
void unpack_nibbles(std::span<const std::byte> block,
                    std::span<const std::int32_t> rest,
                    std::span<double> codes);

/// Bytes of the numbers that would follow a block of these.
[[nodiscard]] std::size_t nibble_rest_bytes(std::span<const double> codes);

}  // namespace sotto
