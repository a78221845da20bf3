#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sotto {

/// Normals per block; a stream is addressed by whole blocks.
inline constexpr std::size_t normal_block = 64;

/// Additional words for the tail of a block: four a pair.
inline constexpr std::size_t more_words_per_block = 4 * normal_block / 2;

/// Transforms `words` (a multiple of normal_block) to as many normals. Within a block, words i and
/// i + 32 make normals i (cosine) and i + 32 (sine). The radius is sqrt(-2 log u), u = 1 - N 2^-76
/// rounded to nearest, N the 76-bit number of word i and the low 12 bits of word i + 32; the angle
/// is the high 52 bits of word i + 32.
/// @return whether a pair lies in the tail; its normals then need refine_tail.
[[nodiscard]] bool normals_from_bits(std::span<const std::uint64_t> words, std::span<double> out);

/// Whether the pair with this first word lies in the tail: u <= 2^-32, a radius of at least 6.66;
/// one pair in 4.3e9.
[[nodiscard]] bool in_tail(std::uint64_t first);

/// Recomputes the tail pairs of one block from 208 more bits: u is reduced by 2^-76 times the
/// binary fraction of the high 52 bits of words 4i to 4i + 3 of `more`. So u is at least 2^-284,
/// and above 2^-240 its relative steps are below 2^-44.
/// @param words of the block.  @param out of the block.  @param more more_words_per_block words.
void refine_tail(std::span<const std::uint64_t> words,
                 std::span<const std::uint64_t> more,
                 std::span<double> out);

/// Highway's names of the instruction-set levels this machine can run, best first. Tests and
/// benchmarks may force one ("" lets the machine choose again).
[[nodiscard]] std::vector<std::string> simd_levels();
void force_simd_level(const std::string& level);

}  // namespace sotto
