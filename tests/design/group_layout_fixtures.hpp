#pragma once

#include <Eigen/Dense>
#include <vector>

#include "core/seeded_random.hpp"
#include "design/coalition_solver.hpp"

namespace sotto::test {

inline std::vector<Eigen::MatrixXd> layout_blocks(const GroupLayout& layout,
                                                  const Eigen::VectorXd& values) {
    std::vector<Eigen::MatrixXd> blocks;
    for (std::size_t k = 0; k < layout.groups().size(); ++k)
        blocks.push_back(layout.block(values, k));
    return blocks;
}

inline Eigen::VectorXd private_variance_of(const GroupLayout& layout,
                                           const Eigen::VectorXd& values) {
    Eigen::VectorXd variance(layout.agents());
    for (int u = 0; u < layout.agents(); ++u) variance(u) = values(layout.variance_of(u));
    return variance;
}

/// Some noise of every group, different everywhere.
inline Eigen::VectorXd any_values(const GroupLayout& layout) {
    SeededRandom random(5, "values");
    Eigen::VectorXd values(layout.size());
    for (double& value : values) value = 0.5 + random.uniform();
    if (layout.shape() == GroupNoise::free)
        for (std::size_t k = 0; k < layout.groups().size(); ++k) {
            Eigen::Map<Eigen::MatrixXd> s(
                values.data() + layout.first(k), layout.rank(k), layout.rank(k));
            s = Eigen::MatrixXd(s * s.transpose());
            s.diagonal().array() += 0.3;
        }
    return values;
}

}  // namespace sotto::test
