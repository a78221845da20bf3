// The noise that the Trainer really adds, measured on its messages, is the noise that the plan
// promises to the accountant. The same measurement over MPI is tests/mpi/trainer_test.cpp. Noise
// seeds are fixed, so the figures are the same in every run.

#include <gtest/gtest.h>

#include "agent/agent_fixtures.hpp"
#include "mpi/federated_fixtures.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

using test::MechanismCase;
using test::NoiseRun;
using test::noisy_agents;
using test::Recording;

Recording record(const Topography& topography, const NoisePlan& plan, const NoiseRun& run) {
    const auto network = make_memory_network(plan.agents, run.threads);
    return test::record_rounds(*network, topography, plan, run);
}

class InjectedNoise : public ::testing::TestWithParam<MechanismCase> {
  protected:
    [[nodiscard]] static NoisePlan plan_on(const Topography& topography) {
        return test::plan_of(
            GetParam(), topography, test::uneven_limits(topography.graph.agents()));
    }
};

TEST_P(InjectedNoise, IsTheAccountedNoiseOfTwentyAgents) {
    const NoiseRun run;
    for (const Topology shape : {Topology::ring,
                                 Topology::path,
                                 Topology::star,
                                 Topology::complete,
                                 Topology::erdos_renyi}) {
        const Topography topography = test::topography_of(shape, noisy_agents, 0.3);
        const NoisePlan plan = plan_on(topography);
        EXPECT_EQ(
            test::injected_is_not_accounted(record(topography, plan, run), topography, plan, run),
            "")
            << name_of(shape) << ", noise seed " << run.noise_seed;
    }
}

TEST_P(InjectedNoise, IsTheAccountedNoiseOfAFewAgents) {
    const NoiseRun run;
    for (const int few : {1, 2, 3}) {
        const Topography topography = test::topography_of(Topology::complete, few);
        const NoisePlan plan = plan_on(topography);
        EXPECT_EQ(
            test::injected_is_not_accounted(record(topography, plan, run), topography, plan, run),
            "")
            << few << " agents, noise seed " << run.noise_seed;
    }
}

TEST_P(InjectedNoise, OfAnotherSizeOrWithMixingWeightsWouldBeNoticed) {
    const NoiseRun run;
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    const NoisePlan plan = plan_on(topography);
    if (plan.noiseless()) GTEST_SKIP() << "there is no noise to change";
    const auto noise = record(topography, plan, run).fresh_noise(run.step_size, plan);
    const Eigen::MatrixXd accounted = spatial_covariance(plan);
    EXPECT_EQ(test::covariance_mismatch(noise, accounted), "");

    NoisePlan louder = plan;
    louder.scale *= 1.1;
    const auto loud = record(topography, louder, run).fresh_noise(run.step_size, louder);
    EXPECT_NE(test::covariance_mismatch(loud, accounted), "");
    EXPECT_EQ(test::covariance_mismatch(loud, spatial_covariance(louder)), "");
    if (plan.aggregation == Aggregation::gossip) {
        EXPECT_NE(test::whitened_mismatch(loud, accounted), "");
        EXPECT_EQ(test::whitened_mismatch(loud, spatial_covariance(louder)), "");
    }

    // Noise of an agent (of a pair, for decor) times its mixing weight.
    EXPECT_NE(test::covariance_mismatch(
                  noise, test::covariance_of_weighted_noise(plan, topography.mixing)),
              "");
    // The marginal variances alone are not enough where agents share streams.
    if (plan.aggregation == Aggregation::gossip && !accounted.isDiagonal()) {
        EXPECT_NE(test::covariance_mismatch(noise, accounted.diagonal().asDiagonal()), "");
    }
    EXPECT_NE(test::off_grid({noise[0] * 1.1}, plan.grid_step(), 0.1), "");
}

TEST_P(InjectedNoise, DrawnOnceOrSharedByRoundsWouldBeNoticed) {
    const NoiseRun run;
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    const NoisePlan plan = plan_on(topography);
    if (plan.noiseless()) GTEST_SKIP() << "there is no noise to share";
    const auto noise = record(topography, plan, run).fresh_noise(run.step_size, plan);
    const Eigen::MatrixXd accounted = spatial_covariance(plan);
    EXPECT_EQ(test::round_dependence(noise, accounted), "");
    auto repeated = noise;
    repeated.back() = repeated[3];
    EXPECT_NE(test::round_dependence(repeated, accounted), "");
    auto dependent = noise;
    for (std::size_t t = 1; t < noise.size(); ++t)
        dependent[t] = std::sqrt(0.96) * noise[t] + 0.2 * noise[t - 1];
    EXPECT_NE(test::round_dependence(dependent, accounted), "");
    auto shared_with_first = noise;
    shared_with_first[7] = 0.9 * noise[7] + 0.4 * noise[0];
    EXPECT_NE(test::round_dependence(shared_with_first, accounted), "");
}

TEST_P(InjectedNoise, WithoutTheGradientWouldBeNoticed) {
    const NoiseRun run;
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    const NoisePlan plan = plan_on(topography);
    const Eigen::MatrixXd accounted = spatial_covariance(plan);
    const Recording recorded = record(topography, plan, run);
    EXPECT_EQ(test::gradient_in_noise(
                  recorded.fresh_noise(run.step_size, plan), recorded.gradients, accounted),
              "");
    for (const Eigen::Index u : {0, 7, 19}) {
        Recording without = recorded;
        for (std::size_t t = 0; t < without.messages.size(); ++t)
            without.messages[t].col(u) += run.step_size * without.gradients[t].col(u);
        EXPECT_NE(test::gradient_in_noise(
                      without.fresh_noise(run.step_size, plan), without.gradients, accounted),
                  "")
            << "agent " << u;
    }
}

class CorrelatedNoise : public InjectedNoise {};

TEST_P(CorrelatedNoise, WithAnotherCorrelationOverRoundsWouldBeNoticed) {
    const NoiseRun run;
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    const NoisePlan plan = plan_on(topography);
    const Eigen::MatrixXd accounted = spatial_covariance(plan);
    const Recording recorded = record(topography, plan, run);
    EXPECT_EQ(test::round_dependence(recorded.fresh_noise(run.step_size, plan), accounted), "");
    NoisePlan independent = plan;
    independent.temporal = {};
    // Taken for independent; and independent, but taken for correlated.
    EXPECT_NE(test::round_dependence(recorded.fresh_noise(run.step_size, independent), accounted),
              "");
    const auto plain = record(topography, independent, run).fresh_noise(run.step_size, plan);
    EXPECT_NE(test::round_dependence(plain, accounted), "");
}

std::vector<MechanismCase> correlated_cases() {
    std::vector<MechanismCase> cases;
    for (const auto& entry : test::mechanism_cases())
        if (find_mechanism("mechanism", entry.mechanism).correlates_rounds) cases.push_back(entry);
    return cases;
}
INSTANTIATE_TEST_SUITE_P(Every,
                         CorrelatedNoise,
                         ::testing::ValuesIn(correlated_cases()),
                         [](const auto& entry) { return entry.param.label; });
INSTANTIATE_TEST_SUITE_P(Every,
                         InjectedNoise,
                         ::testing::ValuesIn(test::mechanism_cases()),
                         [](const auto& entry) { return entry.param.label; });

TEST(InjectedNoiseOfATrustedMean, HasTheVarianceOfOneAgentOverNSquared) {
    const NoiseRun run;
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    const Eigen::VectorXd kappa = test::uneven_limits(noisy_agents);
    const NoisePlan plan = test::plan_of({"Cdp", "cdp", {}}, topography, kappa);
    const Recording recorded = record(topography, plan, run);
    std::vector<Eigen::MatrixXd> of_mean;
    for (const auto& noise : recorded.noise(run.step_size))
        of_mean.emplace_back(noise.rowwise().mean());
    const Eigen::MatrixXd expected =
        Eigen::MatrixXd::Constant(1, 1, 1 / (kappa.minCoeff() * noisy_agents * noisy_agents));
    EXPECT_EQ(test::covariance_mismatch(of_mean, expected), "") << "seed " << run.noise_seed;
    EXPECT_NE(test::covariance_mismatch(of_mean, 1.2 * expected), "");
    for (int u = 1; u < noisy_agents; ++u)
        EXPECT_TRUE(recorded.last.col(u) == recorded.last.col(0));
}

TEST(FederatedAveraging, OfSampledAgentsSpendsTheBudgetThatIsAccounted) {
    const Topography topography = test::topography_of(Topology::ring, noisy_agents);
    const test::FederatedRun federated(noisy_agents);
    const NoisePlan plan =
        test::plan_of({"DpFedavg", "dp-fedavg", {}}, topography, federated.kappa);
    const Recording recorded = record(topography, plan, federated.run);
    EXPECT_EQ(test::contributions_mismatch(recorded, federated), "");
    // 4000 coins: 5 standard errors of the probability are 14% of it.
    EXPECT_NEAR(test::measured_epsilon(recorded, federated), test::FederatedRun::epsilon, 0.3);
    NoisePlan quieter = plan;
    quieter.scale /= 1.5;
    EXPECT_GT(test::measured_epsilon(record(topography, quieter, federated.run), federated),
              1.4 * test::FederatedRun::epsilon);
}

TEST(NoiseSeed, DecidesTheNoise) {
    NoiseRun run;
    run.rounds = 3;
    const Topography topography = test::topography_of(Topology::ring, 5);
    const NoisePlan plan = test::plan_of({"Corn", "corn", {}}, topography, test::uneven_limits(5));
    const auto messages = record(topography, plan, run).messages;
    EXPECT_TRUE(messages == record(topography, plan, run).messages);
    ++run.noise_seed;
    EXPECT_FALSE(messages == record(topography, plan, run).messages);
}

/// What noise is left in all estimates of all rounds, in units of (step size)^2 a coordinate.
double noise_left(const Topography& topography, const NoisePlan& plan, const NoiseRun& run) {
    NoisePlan silent = plan;
    silent.scale = 0;
    const Recording noisy = record(topography, plan, run), plain = record(topography, silent, run);
    PushSumWeights weights(plan.agents);
    double sum = 0;
    for (std::size_t t = 1; t <= noisy.before.size(); ++t) {
        if (topography.mixing.push_sum()) weights.mix(topography.mixing);
        const bool last = t == noisy.before.size();
        const Eigen::MatrixXd models =
            last ? noisy.last - plain.last : noisy.before[t] - plain.before[t];
        sum += (models * weights.values().cwiseInverse().asDiagonal()).squaredNorm();
    }
    return sum / (run.step_size * run.step_size * static_cast<double>(run.dimension));
}

TEST(NoiseOnDirectedGraphs, IsLeftAsThePlanSays) {
    TopologySpec spec;
    spec.agents = 12;
    spec.edge_probability = 0.3;
    spec.graph_seed = 4;
    spec.directed = true;
    const Graph graph = make_topology(spec).graph;
    NoiseRun run;
    run.rounds = 60;
    const Utility trajectory{Utility::Kind::trajectory, 0};
    for (const MixingRule rule : {MixingRule::row_stochastic, MixingRule::push_sum}) {
        const Topography topography{graph, MixingMatrix::from_rule(graph, rule)};
        const Eigen::MatrixXd utility = utility_matrix(topography.mixing, trajectory, run.rounds);
        double left[2], planned[2];
        for (const int optimal : {0, 1}) {
            const NoisePlan plan = test::plan_of({"", optimal == 1 ? "corn" : "ldp", trajectory},
                                                 topography,
                                                 Eigen::VectorXd::Ones(graph.agents()));
            left[optimal] = noise_left(topography, plan, run);
            planned[optimal] = utility.cwiseProduct(spatial_covariance(plan)).sum();
            // A thousand coordinates; push-sum's weights are not at once what they come to.
            EXPECT_NEAR(left[optimal] / planned[optimal], 1, 0.1);
        }
        EXPECT_GT(planned[0], 1.5 * planned[1]);
        EXPECT_NEAR((left[0] / left[1]) / (planned[0] / planned[1]), 1, 0.1);
    }
}

}  // namespace
}  // namespace sotto
