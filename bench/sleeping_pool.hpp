#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sotto::bench {

/// What a pool of one's own would be: threads that sleep on a condition variable, calls taken from
/// a counter, the caller working too and waiting only for who has begun.
class SleepingPool {
  public:
    explicit SleepingPool(int threads) {
        for (int i = 1; i < threads; ++i)
            workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }

    template <class Function>
    void parallel_for(long count, Function&& f) {
        {
            const std::lock_guard lock(mutex_);
            call_ = std::ref(f);
            count_ = count;
            next_ = 0;
            ++job_;
        }
        wake_.notify_all();
        take_calls();
        std::unique_lock lock(mutex_);
        job_taken_ = job_;
        done_.wait(lock, [&] { return busy_ == 0; });
    }

  private:
    void take_calls() {
        for (long i = next_++; i < count_; i = next_++) call_(i);
    }
    void work(const std::stop_token& stop) {
        long seen = 0;
        for (std::unique_lock lock(mutex_);;) {
            if (!wake_.wait(lock, stop, [&] { return job_ != seen; })) return;
            seen = job_;
            if (job_taken_ == job_) continue;  // too late for this one
            ++busy_;
            lock.unlock();
            take_calls();
            lock.lock();
            if (--busy_ == 0) done_.notify_one();
        }
    }
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::condition_variable done_;
    std::function<void(long)> call_;
    std::atomic<long> next_ = 0;
    long count_ = 0, job_ = 0, job_taken_ = 0;
    int busy_ = 0;
    std::vector<std::jthread> workers_;
};

}  // namespace sotto::bench
