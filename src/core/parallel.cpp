#include "core/parallel.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

namespace sotto {

namespace {

thread_local bool inside = false;

class MarkInside {
  public:
    MarkInside() { inside = true; }
    ~MarkInside() { inside = false; }
    MarkInside(const MarkInside&) = delete;
    MarkInside& operator=(const MarkInside&) = delete;
};

/// The arena for this number of threads, cached because a training requests it thousands of times.
tbb::task_arena& arena_for(int threads) {
    static std::mutex mutex;
    static std::map<int, tbb::task_arena> arenas;
    const std::lock_guard lock(mutex);
    return arenas.try_emplace(threads, threads).first->second;
}

/// Keeps the first exception of several threads.
class FirstFailure {
  public:
    void keep(std::exception_ptr failure) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::move(failure);
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace

bool inside_parallel_for() { return inside; }

void run_in_pool(long count, int threads, const std::function<void(long)>& call) {
    FirstFailure failure;
    arena_for(static_cast<int>(std::min<long>(threads, count))).execute([&] {
        tbb::parallel_for(0L, count, [&](long i) {
            const MarkInside mark;
            try {
                call(i);
            } catch (...) {
                failure.keep(std::current_exception());
            }
        });
    });
    failure.rethrow();
}

}  // namespace sotto
