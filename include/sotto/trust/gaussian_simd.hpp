#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sotto {

/// Normals per block of a stream: random access is by whole blocks.
inline constexpr std::size_t normal_block = 64;

/// The transform alone: `words` (a multiple of normal_block) to as many normals. Within a block,
/// word i and word i + 32 make normals i (cosine) and i + 32 (sine).
void normals_from_bits(std::span<const std::uint64_t> words, std::span<double> out);

/// Instruction-set levels this machine can run, best first, as Highway names them; and a way for
/// tests and benchmarks to force one of them ("" lets the machine choose again).
[[nodiscard]] std::vector<std::string> simd_levels();
void force_simd_level(const std::string& level);

}  // namespace sotto
