#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double agreement_tolerance = 1e-12;

/// Largest difference of two equally long lists, relative to the largest of all values.
class Difference {
  public:
    void add(std::span<const double> a, std::span<const double> b) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            difference_ = std::max(difference_, std::abs(a[i] - b[i]));
            scale_ = std::max({scale_, std::abs(a[i]), std::abs(b[i])});
        }
    }
    [[nodiscard]] bool small() const { return difference_ <= agreement_tolerance * scale_; }
    [[nodiscard]] double relative() const { return scale_ > 0 ? difference_ / scale_ : 0; }

  private:
    double difference_ = 0, scale_ = 0;
};

[[noreturn]] void throw_difference(int process, const std::string& quantity) {
    throw NetworkError(
        fmt::format("rank {} found another {} than rank 0; start all ranks with the same program, "
                    "options and files",
                    process,
                    quantity));
}

/// The plan without its numbers: what must be equal exactly.
Digest structure_of(NoisePlan plan) {
    plan.scale = plan.noiseless() ? 0 : 1;
    plan.grid_step_log2 = 0;
    plan.temporal.lower.setZero();
    for (auto& row : plan.rows) std::fill(row.coefficients.begin(), row.coefficients.end(), 0.0);
    return plan.hash();
}

}  // namespace

void require_same(int process, const Topography& own, const Topography& shared) {
    if (own.graph.hash() != shared.graph.hash()) throw_difference(process, "graph");
    if (own.later_mixing.size() != shared.later_mixing.size())
        throw_difference(process, "mixing schedule");
    Difference weights;
    const auto add = [&](const MixingMatrix& a, const MixingMatrix& b) {
        for (int u = 0; u < own.graph.agents(); ++u) weights.add(a.weights(u), b.weights(u));
    };
    add(own.mixing, shared.mixing);
    for (std::size_t i = 0; i < own.later_mixing.size(); ++i)
        add(own.later_mixing[i], shared.later_mixing[i]);
    if (!weights.small())
        throw_difference(process,
                         fmt::format("mixing matrix (relative difference {:.2g}, allowed {:g})",
                                     weights.relative(),
                                     agreement_tolerance));
}

void require_same(int process, const NoisePlan& own, const NoisePlan& shared) {
    if (structure_of(own) != structure_of(shared))
        throw_difference(process, "noise plan (mechanism, streams or rows)");
    const auto require_small = [&](const Difference& difference, const std::string& name) {
        if (!difference.small())
            throw_difference(
                process,
                fmt::format("noise plan ({}: relative difference {:.2g}, allowed {:g})",
                            name,
                            difference.relative(),
                            agreement_tolerance));
    };
    Difference scale, coefficients, temporal;
    scale.add({&own.scale, 1}, {&shared.scale, 1});
    for (std::size_t r = 0; r < own.rows.size(); ++r)
        coefficients.add(own.rows[r].coefficients, shared.rows[r].coefficients);
    const auto& lower = own.temporal.lower;
    temporal.add({lower.data(), static_cast<std::size_t>(lower.size())},
                 {shared.temporal.lower.data(), static_cast<std::size_t>(lower.size())});
    require_small(scale, "scale");
    require_small(coefficients, "coefficients");
    require_small(temporal, "temporal factor");
    // A standard deviation just above a power of two on one process may be just below on another.
    if (std::abs(own.grid_step_log2 - shared.grid_step_log2) > 1)
        throw_difference(process, "noise plan (grid step)");
}

}  // namespace sotto
