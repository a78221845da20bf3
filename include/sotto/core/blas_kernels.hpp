#pragma once

#include <optional>
#include <string>
#include <string_view>

// OpenBLAS holds kernels for many processors and takes some when it is loaded, by the model of the
// processor. For a model that is newer than the library these can be kernels of much older ones.

namespace sotto {

/// Sets of vector instructions, each with those before it, that kernels are written for: SSE2 to
/// SSE4 (16 bytes), AVX (32), AVX2 with fused multiplication and addition (32), AVX-512 F, CD, BW,
/// DQ and VL (64).
enum class VectorInstructions { sse, avx, avx2, avx512 };

/// "SSE", "AVX", "AVX2" or "AVX-512".
[[nodiscard]] std::string_view name_of(VectorInstructions instructions);

/// What this processor and the operating system offer; nothing unless it is an x86-64.
[[nodiscard]] std::optional<VectorInstructions> processor_instructions();

/// What OpenBLAS's kernels of this name use ("SkylakeX": AVX-512), whatever the case of its
/// letters; nothing for names this program does not know.
[[nodiscard]] std::optional<VectorInstructions> instructions_of_kernels(std::string_view name);

/// Name of the kernels to take instead of `kernels`: those for all that the processor offers, where
/// `kernels` use less; nothing where they use as much or are not known.
[[nodiscard]] std::optional<std::string_view> newer_kernels(
    std::string_view kernels, std::optional<VectorInstructions> processor);

/// Name of the kernels in use, as OPENBLAS_CORETYPE takes it; empty where another BLAS is in use.
[[nodiscard]] std::string blas_kernels();

/// Takes kernels by name, as OPENBLAS_CORETYPE does before a program starts; the processor must
/// have what they use. Nothing may be computing with BLAS meanwhile. False, and nothing changed,
/// where another BLAS is in use, or an OpenBLAS with kernels for one processor only.
bool set_blas_kernels(std::string_view name);

/// Takes newer_kernels unless OPENBLAS_CORETYPE says which; for the start of a program, before
/// anything is computed and while it has one thread. Ends OpenBLAS's threads (end_blas_threads).
void choose_blas_kernels();

}  // namespace sotto
