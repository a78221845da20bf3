#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "design/mechanism_fixtures.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto::test {

inline Eigen::VectorXd limits(int agents) {
    Eigen::VectorXd kappa(agents);
    for (int u = 0; u < agents; ++u) kappa(u) = 0.3 * (1 + 0.5 * (u % 3));
    return kappa;
}

/// Calls f(input, plan) for the mechanism over graphs, steps and ways to take part.
template <class Function>
void for_each_plan(const Mechanism& mechanism, Function&& f) {
    for (const auto& named : sample_graphs({2, 5, 9}))
        for (const auto kind : {StepSchedule::Kind::constant, StepSchedule::Kind::inverse_sqrt})
            for (const long cycle : {1L, 5L}) {
                SCOPED_TRACE(mechanism.name + " on " + named.name);
                const MixingMatrix mixing =
                    MixingMatrix::from_rule(named.graph, MixingRule::lazy_metropolis);
                DesignInput input;
                input.graph = &named.graph;
                input.mixing = &mixing;
                input.rounds = 12;
                input.steps = {kind, 0.1, {}};
                input.participation = {cycle};
                input.kappa = limits(named.graph.agents());
                f(input, mechanism.design(input).plan);
            }
}

/// On one edge: a mixing matrix that swaps the two models, so that nobody's own has any weight.
class Swap {
  public:
    [[nodiscard]] DesignInput input() const {
        DesignInput input;
        input.graph = &graph_;
        input.mixing = &mixing_;
        input.rounds = 3;
        input.kappa = Eigen::VectorXd::Ones(2);
        return input;
    }

  private:
    Graph graph_ = Graph::from_edges(2, {{0, 1}});
    MixingMatrix mixing_ =
        MixingMatrix::from_dense(graph_, (Eigen::MatrixXd(2, 2) << 0, 1, 1, 0).finished());
};

/// sum_v w_vu q_uv = 0 for every sender u and stream.
inline void expect_mean_untouched(const char* mechanism) {
    for_each_plan(
        find_mechanism("mechanism", mechanism),
        [](const DesignInput& input, const NoisePlan& plan) {
            Eigen::MatrixXd sum =
                Eigen::MatrixXd::Zero(plan.agents, static_cast<Eigen::Index>(plan.streams.size()));
            for (const auto& row : plan.rows)
                for (std::size_t j = 0; j < row.streams.size(); ++j)
                    sum(row.sender, row.streams[j]) +=
                        input.mixing->weight(row.receiver, row.sender) * row.coefficients[j];
            EXPECT_LE(sum.cwiseAbs().maxCoeff(),
                      1e-14 * std::sqrt(largest_message_variance(plan).maxCoeff()));
        });
}

}  // namespace sotto::test
