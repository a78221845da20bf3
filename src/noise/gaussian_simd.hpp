#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sotto {

/// Normals per block of a stream: random access is by whole blocks.
inline constexpr std::size_t normal_block = 64;

/// More words that a block's tail may need: four a pair.
inline constexpr std::size_t more_words_per_block = 4 * normal_block / 2;

/// The transform alone: `words` (a multiple of normal_block) to as many normals. Within a block,
/// word i and word i + 32 make normals i (cosine) and i + 32 (sine). The radius is
/// sqrt(-2 log u), u = 1 - N 2^-76 rounded to nearest, N the 76-bit number made of word i and the
/// low 12 bits of word i + 32; the angle is that of the high 52 bits of word i + 32.
/// @return whether some pair lies in the tail: its normals are not finished before refine_tail.
[[nodiscard]] bool normals_from_bits(std::span<const std::uint64_t> words, std::span<double> out);

/// Whether the pair whose first word this is lies in the tail: u <= 2^-32, a radius of at least
/// 6.66; one pair of 4.3e9.
[[nodiscard]] bool in_tail(std::uint64_t first);

/// Makes the pairs of one block that lie in its tail again, from 208 bits more: u less than its
/// value above by 2^-76 times the binary fraction of the high 52 bits of words 4i to 4i + 3 of
/// `more`. So u is at least 2^-284, and above 2^-240 its steps are below 2^-44 of it.
/// @param words, out of the block.  @param more more_words_per_block of them.
void refine_tail(std::span<const std::uint64_t> words,
                 std::span<const std::uint64_t> more,
                 std::span<double> out);

/// Instruction-set levels this machine can run, best first, as Highway names them; and a way for
/// tests and benchmarks to force one of them ("" lets the machine choose again).
[[nodiscard]] std::vector<std::string> simd_levels();
void force_simd_level(const std::string& level);

}  // namespace sotto
