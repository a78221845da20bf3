#include "sotto/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
    for (const int threads : {0, 1, 2, 5})
        for (const long count : {0L, 1L, 2L, 101L}) {
            std::vector<int> calls(static_cast<std::size_t>(count));
            parallel_for(count, threads, [&](long i) { ++calls[static_cast<std::size_t>(i)]; });
            EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(count), 1)) << threads;
        }
}

TEST(ParallelFor, KeepsTheOrderWithOneThread) {
    std::vector<long> order;
    parallel_for(5, 1, [&](long i) { order.push_back(i); });
    EXPECT_EQ(order, (std::vector<long>{0, 1, 2, 3, 4}));
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

}  // namespace
}  // namespace sotto
