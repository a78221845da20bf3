#include "training/view_protection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "store/run_directory.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

TrainConfig averaging(const std::string& mechanism, const std::string& protect) {
    TrainConfig config = test::quadratic_config(8, mechanism, 12);
    config.task.task = "averaging";
    config.l2 = 1;
    config.plan.steps = {.kind = StepSchedule::Kind::inverse, .step_size = 1, .pieces = {}};
    config.plan.epsilon = 2;
    config.plan.clip_norm = 1;
    config.plan.batch_size = std::nullopt;
    config.secure_sum = protect.starts_with("secure-sum");
    config.protect_against = protect;
    return config;
}

PreparedRun prepared_for(const TrainConfig& config) {
    const auto network = make_memory_network(8, 1);
    return test::prepare(config, *network);
}

TEST(ViewProtection, GivesTheWorstViewTheEpsilonThatWasAskedFor) {
    for (const char* mechanism : {"ldp", "decor"})
        for (const char* protect : {"node:1", "secure-sum:1"}) {
            PreparedRun prepared = prepared_for(averaging(mechanism, protect));
            const std::vector<LedgerView> views = prepared.views->after(12);
            ASSERT_EQ(views.size(), 1U);
            EXPECT_EQ(views[0].view,
                      std::string(protect) == "node:1" ? "all-nodes" : "all-secure-sums");
            EXPECT_LE(views[0].worst.epsilon, 2 * (1 + 1e-6)) << mechanism << " " << protect;
            EXPECT_GT(views[0].worst.epsilon, 1.9) << mechanism << " " << protect;
            EXPECT_TRUE(views[0].sound || views[0].argument.find("exact") != std::string::npos);
            // The headline is of all messages, and says so. Of shared noise an agent knows a part.
            if (std::string(mechanism) == "ldp") {
                EXPECT_GT(prepared.ledger.after(12, 0).epsilon, 2) << protect;
            }
            const auto& statements = prepared.ledger.record().more_statements;
            EXPECT_TRUE(std::ranges::any_of(statements, [&](const std::string& one) {
                return one.find(protect) != std::string::npos;
            }));
            EXPECT_FALSE(prepared.run.resumable);
        }
}

TEST(ViewProtection, NeedsLessNoiseThanProtectionFromAllMessages) {
    const PreparedRun all = prepared_for(averaging("ldp", "eavesdropper"));
    const PreparedRun sums = prepared_for(averaging("ldp", "secure-sum:1"));
    const auto variance = [](const PreparedRun& prepared) {
        return spatial_covariance(prepared.run.plan).diagonal().maxCoeff();
    };
    EXPECT_LT(variance(sums), 0.6 * variance(all));
    EXPECT_TRUE(all.run.resumable);
}

TEST(ViewProtection, GivesEveryAgentTheNoiseThatItsViewsNeed) {
    TrainConfig config = averaging("ldp", "secure-sum:1");
    config.graph.topology.topology = Topology::erdos_renyi;
    PreparedRun fitted = prepared_for(config);
    const Eigen::VectorXd variances = spatial_covariance(fitted.run.plan).diagonal();
    EXPECT_GT(variances.maxCoeff(), 1.2 * variances.minCoeff());
    EXPECT_LE(variances.maxCoeff(), 4.001 * variances.minCoeff());
    const std::vector<LedgerView> views = fitted.views->after(12);
    EXPECT_LE(views[0].worst.epsilon, 2 * (1 + 1e-6));
    EXPECT_GT(views[0].worst.epsilon, 1.9);
    // The plan with equal noise, as little as the same views allow, leaves more.
    TrainConfig equal = config;
    equal.protect_against = "eavesdropper";
    equal.views = "all-secure-sums";
    PreparedRun plain = prepared_for(equal);
    const double mu = *plain.views->after(12)[0].worst.loss.mu(), allowed = gdp_mu(2, 1e-5);
    const double uniform =
        spatial_covariance(plain.run.plan).diagonal().sum() * mu * mu / (allowed * allowed);
    EXPECT_LT(variances.sum(), 0.97 * uniform);
}

TEST(ViewProtection, OfAGivenPlanIsCheckedAndNotScaled) {
    const TemporaryFolder folder;
    const PreparedRun all = prepared_for(averaging("ldp", "eavesdropper"));
    const PreparedRun sums = prepared_for(averaging("ldp", "secure-sum:1"));
    const auto with_plan = [&](const NoisePlan& plan, double epsilon) {
        TrainConfig config = averaging("ldp", "secure-sum:1");
        config.plan.epsilon = epsilon;
        config.plan.plan_file = folder.write("plan.json", to_json(plan));
        return config;
    };
    EXPECT_NO_THROW((void)prepared_for(with_plan(sums.run.plan, 2)));
    EXPECT_NO_THROW((void)prepared_for(with_plan(all.run.plan, 2)));
    const std::string refused =
        message_of<PrivacyError>([&] { (void)prepared_for(with_plan(sums.run.plan, 1.5)); });
    expect_contains(refused, "would learn");
    expect_contains(refused, "--protect-against secure-sum:1");
}

TEST(ViewProtection, IsRefusedWhereNoFigurePromisesIt) {
    const auto refused = [](auto&& change) {
        TrainConfig config = averaging("ldp", "secure-sum:1");
        change(config);
        return message_of<ConfigError>([&] { (void)prepared_for(config); });
    };
    expect_contains(refused([](TrainConfig& c) {
                        c.task.task = "quadratic";
                        c.l2 = 0;
                    }),
                    "gradients depend on messages");
    expect_contains(refused([](TrainConfig& c) { c.secure_sum = false; }), "--secure-sum on");
    expect_contains(refused([](TrainConfig& c) { c.plan.noise_std = 1; }), "--noise-std");
    expect_contains(refused([](TrainConfig& c) { c.plan.unit_agents = 2; }), "--unit-agents");
    expect_contains(refused([](TrainConfig& c) { c.protect_against = "secure-sum:8"; }),
                    "leaves nobody");
    expect_contains(refused([](TrainConfig& c) { c.protect_against = "everybody"; }),
                    "unknown observers");
}

}  // namespace
}  // namespace sotto
