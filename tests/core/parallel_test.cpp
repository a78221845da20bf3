#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using std::chrono_literals::operator""ms;

TEST(ParallelFor, CallsEveryIndexOnce) {
    for (const int threads : {-1, 0, 1, 2, 5, 64})
        for (const long count : {-3L, 0L, 1L, 2L, 101L, 10000L}) {
            std::vector<int> calls(static_cast<std::size_t>(std::max(count, 0L)));
            parallel_for(count, threads, [&](long i) { ++calls[static_cast<std::size_t>(i)]; });
            EXPECT_TRUE(std::ranges::all_of(calls, [](int each) { return each == 1; }))
                << threads << " threads, " << count << " calls";
        }
}

TEST(ParallelFor, KeepsTheOrderWithOneThread) {
    std::vector<long> order;
    parallel_for(5, 1, [&](long i) { order.push_back(i); });
    EXPECT_EQ(order, (std::vector<long>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, MakesTheSameBitsWithAnyNumberOfThreads) {
    // Sums of which the last bits depend on the order of their terms.
    const auto results_with = [](int threads) {
        std::vector<double> results(37);
        parallel_for(std::ssize(results), threads, [&](long i) {
            double sum = 0;
            for (long k = 1; k <= 1000 + i; ++k)
                sum += std::sin(static_cast<double>(k * i)) / static_cast<double>(k);
            results[static_cast<std::size_t>(i)] = sum;
        });
        return results;
    };
    const std::vector<double> alone = results_with(1);
    for (int threads = 2; threads <= 8; ++threads)
        EXPECT_EQ(results_with(threads), alone) << threads;
}

/// The most calls that ran at one time, and the threads that ran them.
struct Crowd {
    int largest = 0;
    std::set<std::thread::id> threads;
};

Crowd crowd_of(long count, int threads) {
    Crowd crowd;
    std::mutex mutex;
    int inside = 0;
    parallel_for(count, threads, [&](long) {
        {
            const std::lock_guard lock(mutex);
            crowd.largest = std::max(crowd.largest, ++inside);
            crowd.threads.insert(std::this_thread::get_id());
        }
        std::this_thread::sleep_for(1ms);
        const std::lock_guard lock(mutex);
        --inside;
    });
    return crowd;
}

TEST(ParallelFor, RunsNoMoreCallsAtATimeThanThreads) {
    for (const int threads : {1, 2, 3, 8}) {
        const Crowd crowd = crowd_of(60, threads);
        EXPECT_LE(crowd.largest, threads);
        EXPECT_LE(crowd.threads.size(), static_cast<std::size_t>(threads));
    }
    EXPECT_LE(crowd_of(2, 8).largest, 2);
}

TEST(ParallelFor, RunsCallsAtTheSameTime) {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
    // A busy machine may give the second thread no core for a while.
    int largest = 0;
    for (int i = 0; i < 100 && largest < 2; ++i) largest = crowd_of(60, 2).largest;
    EXPECT_EQ(largest, 2);
}

TEST(ParallelFor, UsesOneThreadWithoutAPool) {
    EXPECT_EQ(crowd_of(5, 1).threads, std::set{std::this_thread::get_id()});
    EXPECT_EQ(crowd_of(1, 8).threads, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, InsideAnotherRunsOnItsThread) {
    std::atomic<long> calls{0};
    std::atomic<bool> strayed{false};
    parallel_for(20, 4, [&](long) {
        EXPECT_TRUE(inside_parallel_for());
        const auto outer = std::this_thread::get_id();
        parallel_for(30, 4, [&](long) {
            if (std::this_thread::get_id() != outer) strayed = true;
            parallel_for(2, 2, [&](long) { ++calls; });
        });
    });
    EXPECT_FALSE(strayed);
    EXPECT_EQ(calls, 20 * 30 * 2);
    EXPECT_FALSE(inside_parallel_for());
}

TEST(ParallelFor, KnowsThatItIsInsideUntilTheLastNestedCallHasEnded) {
    parallel_for(8, 2, [&](long) {
        parallel_for(2, 2, [](long) {});
        EXPECT_TRUE(inside_parallel_for());
    });
}

TEST(ParallelFor, CanBeCalledByTwoThreadsAtATime) {
    std::atomic<long> calls{0};
    const auto many = [&] {
        for (int i = 0; i < 100; ++i) parallel_for(20, 2, [&](long) { ++calls; });
    };
    std::thread other(many);
    many();
    other.join();
    EXPECT_EQ(calls, 2 * 100 * 20);
}

TEST(ParallelFor, RethrowsAnErrorWithItsOwnTypeAndMessage) {
    for (const int threads : {1, 2, 4}) try {
            parallel_for(64, threads, [](long i) {
                if (i == 40) throw DataError("index 40 is bad");
            });
            FAIL() << "no error with " << threads << " threads";
        } catch (const DataError& error) {
            EXPECT_STREQ(error.what(), "index 40 is bad");
        }
    EXPECT_FALSE(inside_parallel_for());
}

TEST(ParallelFor, EndsEveryOtherCallBeforeItRethrows) {
    std::atomic<int> ended{0};
    EXPECT_THROW(parallel_for(64,
                              2,
                              [&](long i) {
                                  if (i % 16 == 3) throw DataError("bad");
                                  ++ended;
                              }),
                 DataError);
    EXPECT_EQ(ended.load(), 60);
}

TEST(ParallelFor, RethrowsAnErrorOfANestedCall) {
    EXPECT_THROW(parallel_for(8,
                              2,
                              [](long i) {
                                  parallel_for(8, 2, [i](long j) {
                                      if (i == 5 && j == 5) throw DataError("bad");
                                  });
                              }),
                 DataError);
}

}  // namespace
}  // namespace sotto
