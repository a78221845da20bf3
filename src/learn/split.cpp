#include "sotto/learn/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"

namespace sotto {

Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed) {
    if (!(test_fraction > 0 && test_fraction < 1))
        throw ConfigError(
            fmt::format("test fraction {}: must be above 0 and below 1", test_fraction));
    if (records < 2)
        throw DataError(
            fmt::format("{} records: a split into training and test needs two", records));
    std::vector<Eigen::Index> order(static_cast<std::size_t>(records));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    SeededRandom random(seed, "train-test-split");
    random.shuffle(order);
    const auto test_count = std::clamp<Eigen::Index>(
        std::llround(static_cast<double>(records) * test_fraction), 1, records - 1);
    Split split;
    split.test.assign(order.begin(), order.begin() + test_count);
    split.train.assign(order.begin() + test_count, order.end());
    std::sort(split.test.begin(), split.test.end());
    std::sort(split.train.begin(), split.train.end());
    return split;
}

}  // namespace sotto
