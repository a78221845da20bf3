#include "account/account_subject.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

SubjectConfig subject_config(const std::string& mechanism) {
    SubjectConfig config;
    config.graph.topology.topology = Topology::ring;
    config.graph.topology.agents = 5;
    config.plan.mechanism = mechanism;
    config.plan.rounds = 30;
    return config;
}

std::unique_ptr<AccountSubject> build(const SubjectConfig& config) {
    const auto network = make_memory_network(1, 1);
    return build_account_subject(config, *network);
}

TEST(AccountSubject, HasAPlanThatMeetsItsBudget) {
    for (const std::string mechanism : {"ldp", "pairs", "laplace", "zip-dl"}) {
        const auto subject = build(subject_config(mechanism));
        EXPECT_EQ(subject->plan.mechanism, mechanism);
        EXPECT_EQ(subject->delta, mechanism == "laplace" ? 0 : 1e-5);
        EXPECT_EQ(subject->process.graph, &subject->built.topography.graph);
        EXPECT_EQ(subject->process.plan, &subject->plan);
        EXPECT_EQ(subject->process.rounds(), 30);
        const auto reached = coalition_guarantees(
            subject->plan, subject->plan.coalition_size, subject->exposures, subject->delta);
        EXPECT_NEAR(largest(reached).epsilon, 10, 1e-4) << mechanism;
    }
}

TEST(AccountSubject, TakesASensitivityInsteadOfTheAdjacencys) {
    SubjectConfig config = subject_config("ldp");
    EXPECT_EQ(build(config)->exposures.front().sensitivity, 2 * config.plan.clip_norm);
    config.plan.noise_std = 2;
    EXPECT_EQ(build(config)->exposures.front().sensitivity, 1);
    config.sensitivity = 0.25;
    const auto subject = build(config);
    EXPECT_EQ(subject->exposures.front().sensitivity, 0.25);
    EXPECT_NEAR(observed_precision(subject->plan, {})(0), 0.25, 1e-12);
    config.sensitivity = 0;
    expect_contains(message_of<ConfigError>([&] { (void)build(config); }), "--sensitivity");
}

TEST(AccountSubject, ChoosesAsPlansOfSmallModelsDo) {
    SubjectConfig config = subject_config("mafalda");
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation = {.cycle = 4, .poisson = true};
    config.plan.sampling_probability = 0.01;
    const auto subject = build(config);
    EXPECT_EQ(subject->plan.temporal.kind, TemporalFactor::Kind::banded);
    EXPECT_EQ(subject->plan.temporal.lower.cols(), 4);
    config.plan.participation = {4};
    EXPECT_EQ(build(config)->plan.temporal.kind, TemporalFactor::Kind::dense);
}

TEST(AccountSubject, SplitsTheRunWhereAgentsLeave) {
    SubjectConfig config = subject_config("ldp");
    config.departures = "10:4";
    const auto subject = build(config);
    ASSERT_EQ(subject->process.phases.size(), 2U);
    EXPECT_EQ(subject->process.phases[0].rounds, 10);
    EXPECT_EQ(subject->process.phases[1].rounds, 20);
    EXPECT_EQ(subject->process.rounds(), 30);
    config.plan.mechanism = "laplace";
    expect_contains(message_of<ConfigError>([&] { (void)build(config); }),
                    "--departures: not possible with mechanism laplace");
}

}  // namespace
}  // namespace sotto
