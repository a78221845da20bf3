// Rounds like those of a training: calls on threads, then a stretch of the caller alone.
//   bench_threads pool|own|openmp|alone CALLS MICROSECONDS SHARE ROUNDS THREADS
// A call works for so many microseconds, the caller alone for the SHARE of a round's work. Prints
// the microseconds of every round as JSON. How OpenMP's threads wait is the environment's
// OMP_WAIT_POLICY.

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "sleeping_pool.hpp"
#include "sotto/core/error.hpp"

namespace {

using Call = std::function<void(long)>;
using Way = std::function<void(long, const Call&)>;

/// A chain of operations, each of which waits for the one before.
double work(long operations) {
    double value = 1;
    for (long i = 0; i < operations; ++i) value = value * 1.0000001 + 1e-9;
    return value;
}

/// The fastest of several, so that other work on the machine does not count.
double operations_a_microsecond() {
    constexpr long many = 1'000'000;
    double best = 0;
    for (int i = 0; i < 20; ++i) {
        const auto start = sotto::Clock::now();
        const double value = work(many);
        best = std::max(best, value * 0 + many / (1e6 * sotto::seconds_since(start)));
    }
    return best;
}

Way way_named(const std::string& name, int threads) {
    if (name == "alone")
        return [](long count, const Call& call) {
            for (long i = 0; i < count; ++i) call(i);
        };
    if (name == "pool")
        return
            [threads](long count, const Call& call) { sotto::parallel_for(count, threads, call); };
    if (name == "own")
        return [pool = std::make_shared<sotto::bench::SleepingPool>(threads)](
                   long count, const Call& call) { pool->parallel_for(count, call); };
#ifdef _OPENMP
    if (name == "openmp")
        return [threads](long count, const Call& call) {
#pragma omp parallel for schedule(static) num_threads(threads)
            for (long i = 0; i < count; ++i) call(i);
        };
#endif
    throw sotto::ConfigError("there is no way '" + name + "'");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 7) return 2;
    const long calls = std::atol(argv[2]), rounds = std::atol(argv[5]);
    const Way way = way_named(argv[1], std::atoi(argv[6]));
    const double each = std::atof(argv[3]) * operations_a_microsecond();
    const auto alone = static_cast<long>(std::atof(argv[4]) * each * static_cast<double>(calls));
    std::vector<double> values(static_cast<std::size_t>(calls) + 1);
    nlohmann::json microseconds = nlohmann::json::array();
    for (long round = 0; round < rounds; ++round) {
        const auto start = sotto::Clock::now();
        way(calls,
            [&](long i) { values[static_cast<std::size_t>(i)] = work(static_cast<long>(each)); });
        values.back() = work(alone);
        microseconds.push_back(1e6 * sotto::seconds_since(start));
    }
    fmt::print("{}\n",
               nlohmann::json{{"microseconds", microseconds}, {"value", values.back()}}.dump());
    return 0;
}
