#include "sotto/core/blas_kernels.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "core/linear_algebra.hpp"

namespace sotto {

namespace {

struct KernelRecord {
    std::string_view name;
    VectorInstructions instructions;
};

using enum VectorInstructions;

/// OpenBLAS's kernels on x86-64. The first for each instruction set is the one chosen for it.
constexpr auto kernel_records = std::to_array<KernelRecord>(
    {{"Prescott", sse},         {"Core2", sse},      {"Penryn", sse},      {"Dunnington", sse},
     {"Nehalem", sse},          {"Atom", sse},       {"Nano", sse},        {"Opteron", sse},
     {"Opteron_SSE3", sse},     {"Barcelona", sse},  {"Bobcat", sse},      {"Sandybridge", avx},
     {"Bulldozer", avx},        {"Piledriver", avx}, {"Steamroller", avx}, {"Excavator", avx},
     {"Haswell", avx2},         {"Zen", avx2},       {"SkylakeX", avx512}, {"Cooperlake", avx512},
     {"Sapphirerapids", avx512}});

constexpr const char* choice_variable = "OPENBLAS_CORETYPE";

template <class Function>
Function* loaded(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::string_view name_of(VectorInstructions instructions) {
    constexpr std::array<std::string_view, 4> names{"SSE", "AVX", "AVX2", "AVX-512"};
    return names[static_cast<std::size_t>(instructions)];
}

std::optional<VectorInstructions> processor_instructions() {
#ifdef __x86_64__
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512;
    if (has_avx2) return avx2;
    return __builtin_cpu_supports("avx") ? avx : sse;
#else
    return std::nullopt;
#endif
}

std::optional<VectorInstructions> instructions_of_kernels(std::string_view name) {
    for (const KernelRecord& record : kernel_records)
        if (record.name == name) return record.instructions;
    return std::nullopt;
}

std::optional<std::string_view> newer_kernels(std::string_view kernels,
                                              std::optional<VectorInstructions> processor) {
    const auto used = instructions_of_kernels(kernels);
    if (!used || !processor || *used >= *processor) return std::nullopt;
    for (const KernelRecord& record : kernel_records)
        if (record.instructions == *processor) return record.name;
    return std::nullopt;
}

std::string blas_kernels() {
    const auto name = loaded<char*()>("openblas_get_corename");
    return name == nullptr ? "" : name();
}

bool set_blas_kernels(std::string_view name) {
    const auto forget = loaded<void()>("gotoblas_dynamic_quit");
    const auto choose = loaded<void()>("gotoblas_dynamic_init");
    if (forget == nullptr || choose == nullptr) return false;
    // The library reads the variable again. It is restored for child processes.
    const char* const before = std::getenv(choice_variable);
    const std::optional<std::string> kept =
        before == nullptr ? std::nullopt : std::optional<std::string>(before);
    ::setenv(choice_variable, std::string(name).c_str(), 1);
    forget();
    choose();
    if (kept)
        ::setenv(choice_variable, kept->c_str(), 1);
    else
        ::unsetenv(choice_variable);
    return true;
}

void choose_blas_kernels() {
    end_blas_threads();
    if (std::getenv(choice_variable) != nullptr) return;
    if (const auto newer = newer_kernels(blas_kernels(), processor_instructions()))
        set_blas_kernels(*newer);
}

}  // namespace sotto
