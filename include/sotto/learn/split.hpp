#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace sotto {

struct Split {
    std::vector<Eigen::Index> train, test;  ///< disjoint, together all rows, each ascending
};

/// Random split. @param test_fraction in (0, 1); both parts get at least one record.
[[nodiscard]] Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed);

}  // namespace sotto
