#pragma once

#include <optional>
#include <string>
#include <string_view>

// OpenBLAS chooses kernels by processor model when it is loaded. For a model newer than the library
// these can be kernels of much older processors.

namespace sotto {

/// Vector instruction sets that kernels are written for; each includes those before it: SSE2 to
/// SSE4 (16 bytes), AVX (32), AVX2 with FMA (32), AVX-512 F, CD, BW, DQ and VL (64).
enum class VectorInstructions { sse, avx, avx2, avx512 };

/// "SSE", "AVX", "AVX2" or "AVX-512".
[[nodiscard]] std::string_view name_of(VectorInstructions instructions);

/// Instructions that processor and operating system support; nothing unless it is an x86-64.
[[nodiscard]] std::optional<VectorInstructions> processor_instructions();

/// Instructions used by OpenBLAS's kernels of this name ("SkylakeX": AVX-512), in any letter case;
/// nothing for unknown names.
[[nodiscard]] std::optional<VectorInstructions> instructions_of_kernels(std::string_view name);

/// Name of kernels for all instructions of the processor if `kernels` use fewer; nothing if they
/// use as many or are unknown.
[[nodiscard]] std::optional<std::string_view> newer_kernels(
    std::string_view kernels, std::optional<VectorInstructions> processor);

/// Name of the kernels in use, as OPENBLAS_CORETYPE takes it; empty for another BLAS.
[[nodiscard]] std::string blas_kernels();

/// Switches to kernels by name, as OPENBLAS_CORETYPE does. The processor must support them, and no
/// thread may use BLAS meanwhile. Returns false and changes nothing for another BLAS, or an
/// OpenBLAS with kernels for one processor only.
bool set_blas_kernels(std::string_view name);

/// Sets newer_kernels unless OPENBLAS_CORETYPE is set. Call it at program start, with one thread,
/// before any computation. Ends OpenBLAS's threads (end_blas_threads).
void choose_blas_kernels();

}  // namespace sotto
