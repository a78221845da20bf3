#include "audit/person_canaries.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {
namespace {

constexpr int persons_network = 8;

AuditConfig person_config(const std::string& mechanism, int unit_agents, const std::string& view) {
    AuditConfig config = audit_config(mechanism, persons_network, 12);
    config.train.plan.unit_agents = unit_agents;
    config.view = view;
    config.trials = 2000;
    return config;
}

TEST(PersonAudit, MeasuresWhatTheAccountantSays) {
    for (const char* mechanism : {"ldp", "pairs", "decor"})
        for (const int unit_agents : {2, 3})
            for (const char* view : {"eavesdropper", "all-messages:0,3"}) {
                const LikelihoodResult result =
                    audit_pipeline(person_config(mechanism, unit_agents, view), {});
                const auto where = fmt::format("{} {} {}", mechanism, unit_agents, view);
                EXPECT_TRUE(result.consistent()) << where << "\n" << result.tables();
                EXPECT_EQ(std::ssize(result.design.targets), unit_agents) << where;
                const double strongest = result.design.hypotheses[result.strongest()].mu_theory;
                EXPECT_LE(strongest, result.design.claim_mu * (1 + 1e-9)) << where;
                // The bound is attained where all messages are seen: by constant signs.
                EXPECT_GE(strongest, 0.99 * result.design.claim_mu) << where;
                const auto& one = result.design.hypotheses.back();
                EXPECT_EQ(one.name, "one agent");
                EXPECT_LT(one.mu_theory, strongest) << where;
                EXPECT_NEAR(
                    result.verdicts[result.strongest()].figures.mu, strongest, 0.15 * strongest)
                    << where;
            }
}

TEST(PersonAudit, AsksAboutTheAgentsThatAreNamed) {
    AuditConfig config = person_config("pairs", 3, "all-messages:0");
    config.targets = {2, 5};
    const LikelihoodResult result = audit_pipeline(config, {});
    EXPECT_EQ(result.design.targets, (std::vector<int>{2, 5}));
    EXPECT_EQ(result.question(), "asks about a person at agents 2, 5");
    EXPECT_EQ(result.json().at("person"), (std::vector<int>{2, 5}));
    EXPECT_TRUE(result.consistent()) << result.tables();
    config.targets = {2, 5, 6, 7};
    expect_contains(message_of<ConfigError>([&] { (void)audit_pipeline(config, {}); }),
                    "--targets: 2,5,6,7 are 4 agents");
    config.targets = {0, 5};
    expect_contains(message_of<ConfigError>([&] { (void)audit_pipeline(config, {}); }),
                    "agent 0 is an observer");
}

TEST(PersonAudit, IsOnlyPossibleWithTheLikelihoodAttack) {
    AuditConfig config = person_config("pairs", 2, "eavesdropper");
    config.attack = "canary-records";
    config.train.plan.adjacency = Adjacency::record_add_remove;
    config.train.plan.participation = {1, true};
    config.train.plan.batch_size = 400;
    config.train.plan.rounds = 100;
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    expect_contains(message_of<ConfigError>([&] { (void)audit_outcome(config); }),
                    "--unit-agents: 2 is not possible with --attack canary-records");
}

TEST(PersonAudit, SidesAreTheWorst) {
    Eigen::Matrix3d gram;
    gram << 2, -1, 0.5, -1, 2, -0.5, 0.5, -0.5, 1;
    EXPECT_EQ(worst_sides(gram), Eigen::VectorXd(Eigen::Vector3d(1, -1, 1)));
    const Eigen::MatrixXd many = Eigen::MatrixXd::Constant(20, 20, 0.5);
    EXPECT_EQ(worst_sides(many), Eigen::VectorXd::Ones(20));
}

TEST(PersonAudit, CanariesSurviveTheirWayThroughAFile) {
    const auto network = make_memory_network(persons_network, 2);
    const AuditConfig config = person_config("pairs", 2, "eavesdropper");
    const AuditSubject subject = build_audit_subject(config, true, *network);
    const AuditDesign design = design_audit(config, subject);
    const AuditDesign back = canaries_from_json(canaries_json(design), "canaries.json");
    EXPECT_EQ(back.targets, design.targets);
    EXPECT_EQ(back.patterns(), design.patterns());
    for (std::size_t place = 0; place < 2; ++place)
        EXPECT_EQ(back.sides_of(place), design.sides_of(place));
}

/// Noise of a plan for persons at one agent, in a run that claims those at two.
TEST(PersonSabotage, NoiseForPersonsAtOneAgentIsCaught) {
    const auto network = make_memory_network(persons_network, 2);
    const AuditSubject alone =
        build_audit_subject(person_config("pairs", 1, "eavesdropper"), true, *network);
    Sabotage sabotage;
    sabotage.noise = [&](NoisePlan& plan, const MixingMatrix&) {
        ASSERT_LT(alone.account->plan.scale, plan.scale);
        plan.scale = alone.account->plan.scale;
    };
    const LikelihoodResult result =
        audit_pipeline(person_config("pairs", 2, "eavesdropper"), sabotage);
    EXPECT_FALSE(result.consistent());
    EXPECT_TRUE(result.verdicts[result.strongest()].exceeds()) << result.tables();
}

TEST(PersonSabotage, TwoAgentsWithTheSameNoiseAreCaught) {
    AuditConfig config = person_config("ldp", 2, "eavesdropper");
    config.targets = {2, 5};
    EXPECT_TRUE(audit_pipeline(config, {}).consistent());
    Sabotage sabotage;
    // A stream's key follows from its index too.
    sabotage.noise = [](NoisePlan& plan, const MixingMatrix&) {
        for (auto& stream : plan.streams) stream.index = 0;
    };
    sabotage.keys = [](std::vector<KeyRing>& rings) {
        const SecretKey common = rings[2].seed(rings[2].groups().front()).clone();
        KeyRing alike(5);
        for (const int group : rings[5].groups()) alike.add(group, common.clone());
        rings[5] = std::move(alike);
    };
    EXPECT_FALSE(audit_pipeline(config, sabotage).consistent());
}

}  // namespace
}  // namespace sotto::test
