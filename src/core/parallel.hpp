#pragma once

#include <functional>

namespace sotto {

/// Whether the calling thread is inside a parallel_for. Functions called there use no further
/// threads.
[[nodiscard]] bool inside_parallel_for();

/// parallel_for with at least two threads and calls, outside another one.
void run_in_pool(long count, int threads, const std::function<void(long)>& call);

/// Calls f(i) for every i in [0, count), at most `threads` at a time, on threads that sleep between
/// uses. With one thread, and inside another parallel_for, calls run in order on the calling thread
/// and stop at the first exception; otherwise the first exception (by time) is rethrown after all
/// calls have ended. Calls must be independent; results then do not depend on the number of
/// threads.
template <class Function>
void parallel_for(long count, int threads, Function&& f) {
    if (threads <= 1 || count <= 1 || inside_parallel_for())
        for (long i = 0; i < count; ++i) f(i);
    else
        run_in_pool(count, threads, std::ref(f));
}

}  // namespace sotto
