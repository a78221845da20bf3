#include "core/blas_memory.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/host.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t buffer_bytes = 129 * mebibyte;
/// Memory of small jobs besides the first buffer.
constexpr std::size_t least_bytes_beside = 32 * mebibyte;

int reserved = std::numeric_limits<int>::max();

/// Whether so much contiguous address space is left.
bool has_room(std::size_t bytes) {
    void* const piece =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (piece == MAP_FAILED) return false;
    ::munmap(piece, bytes);
    return true;
}

}  // namespace

void reserve_blas_memory() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const auto take = reinterpret_cast<void* (*)(int)>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
    const auto give_back =
        reinterpret_cast<void (*)(void*)>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
    if (take == nullptr || give_back == nullptr) return;
    if (!has_room(buffer_bytes + least_bytes_beside))
        throw Error(ExitCode::other,
                    fmt::format("out of memory: address space is limited to {} MiB (ulimit -v {}), "
                                "and computing needs {} MiB in addition to the program itself; "
                                "raise the limit, or lift it with ulimit -v unlimited",
                                limit.rlim_cur / mebibyte,
                                limit.rlim_cur / 1024,
                                (buffer_bytes + least_bytes_beside) / mebibyte));
    const auto cores = static_cast<std::size_t>(usable_processors());
    std::vector<void*> buffers{take(0)};
    while (buffers.size() < cores && has_room((buffers.size() + 2) * buffer_bytes))
        buffers.push_back(take(0));
    for (void* const buffer : buffers) give_back(buffer);  // OpenBLAS keeps them for later
    reserved = static_cast<int>(buffers.size());
}

int most_blas_threads() { return reserved; }

}  // namespace sotto
