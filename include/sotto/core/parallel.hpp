#pragma once

#include <algorithm>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace sotto {

/// Calls f(i) for every i in [0, count), on up to `threads` threads; with one thread, or without
/// OpenMP, in order on the calling thread. Calls must be independent. The first exception (by
/// time) is rethrown after all calls have ended.
template <class Function>
void parallel_for(long count, int threads, Function&& f) {
    if (threads <= 1 || count <= 1) {
        for (long i = 0; i < count; ++i) f(i);
        return;
    }
    std::exception_ptr failure;
    [[maybe_unused]] const int team = static_cast<int>(std::min<long>(threads, count));
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(team)
#endif
    for (long i = 0; i < count; ++i) {
        try {
            f(i);
        } catch (...) {
#ifdef _OPENMP
#pragma omp critical(sotto_parallel_failure)
#endif
            if (!failure) failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace sotto
