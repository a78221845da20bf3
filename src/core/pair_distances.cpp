// Compiled once for every instruction-set level, as weighted_sum.cpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../src/core/pair_distances.cpp"
#include <hwy/foreach_target.h>
// Must be included first: foreach_target.
#include <hwy/highway.h>

#include <cstddef>

#include "core/pair_distances.hpp"

HWY_BEFORE_NAMESPACE();
namespace sotto {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void pair_distances(const double* columns,
                    std::size_t rows,
                    const ColumnPair* pairs,
                    std::size_t count,
                    double* sums) {
    constexpr auto partial_sums = static_cast<std::size_t>(pair_distance_lanes);
    const hn::CappedTag<double, partial_sums> d;
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN double partial[partial_sums];
    for (std::size_t k = 0; k < count; ++k) {
        const double* const a = columns + static_cast<std::size_t>(pairs[k].first) * rows;
        const double* const b = columns + static_cast<std::size_t>(pairs[k].second) * rows;
        for (std::size_t part = 0; part < partial_sums; part += lanes) {
            auto sum = hn::Zero(d);
            for (std::size_t i = part; i < rows; i += partial_sums) {
                const auto difference = hn::Sub(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
                sum = hn::Add(sum, hn::Mul(difference, difference));
            }
            hn::Store(sum, d, partial + part);
        }
        sums[k] += ((partial[0] + partial[4]) + (partial[1] + partial[5])) +
                   ((partial[2] + partial[6]) + (partial[3] + partial[7]));
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace sotto
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "sotto/core/error.hpp"

namespace sotto {

HWY_EXPORT(pair_distances);

void add_pair_distances(const Eigen::MatrixXd& columns,
                        std::span<const ColumnPair> pairs,
                        std::span<double> sums) {
    if (columns.rows() % pair_distance_lanes != 0 || pairs.size() != sums.size())
        throw Error(ExitCode::other, "pair distances: rows are no multiple of eight, or sums lack");
    HWY_DYNAMIC_DISPATCH(pair_distances)
    (columns.data(),
     static_cast<std::size_t>(columns.rows()),
     pairs.data(),
     pairs.size(),
     sums.data());
}

}  // namespace sotto
#endif
