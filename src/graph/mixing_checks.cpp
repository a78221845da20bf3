#include "mixing_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

void check_mixing(const Graph& graph, const Eigen::MatrixXd& dense, const std::string& name) {
    const int n = graph.agents();
    if (dense.rows() != n || dense.cols() != n)
        throw DataError(fmt::format("{}: {} x {}, but the graph has {} agents; it must be {} x {}",
                                    name,
                                    dense.rows(),
                                    dense.cols(),
                                    n,
                                    n,
                                    n));
    for (int u = 0; u < n; ++u) {
        const auto members = graph.closed_neighbourhood(u);
        double sum = 0;
        for (int v = 0; v < n; ++v) {
            const double weight = dense(u, v);
            const auto reject = [&](const char* rule) {
                return DataError(
                    fmt::format("{}: entry ({}, {}) is {} (agents are numbered from "
                                "0); {}",
                                name,
                                u,
                                v,
                                weight,
                                rule));
            };
            if (!std::isfinite(weight)) throw reject("weights must be finite");
            if (weight != 0 && !std::binary_search(members.begin(), members.end(), v))
                throw reject("the graph has no edge there, so it must be 0");
            sum += weight;
        }
        if (!(std::abs(sum - 1) <= row_sum_tolerance))
            throw DataError(
                fmt::format("{}: row {} sums to {:.12g} (agents are numbered from 0); "
                            "every row must sum to 1 within {}",
                            name,
                            u,
                            sum,
                            row_sum_tolerance));
    }
}

}  // namespace sotto
