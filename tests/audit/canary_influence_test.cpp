#include "audit/canary_influence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_view.hpp"
#include "audit/canary_record_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A pipeline whose canaries are in a shard, and what is known of its contributions.
class CanariesOf {
  public:
    explicit CanariesOf(const std::string& mechanism,
                        const std::string& view = "eavesdropper",
                        long rounds = 60)
        : pipeline_(config(mechanism, view, rounds)) {}

    /// @param half_is_known every other coordinate is no canary's, and known.
    CanaryInfluenceResult run(const CoinSabotage& sabotage = {},
                              bool half_is_known = false,
                              double level = 0.99,
                              std::uint64_t noise_seed = 7) {
        const TemporaryFolder folder;
        const std::filesystem::path views = folder.path("views");
        pipeline_.record(views, sabotage, noise_seed);
        const AuditSubject& subject = pipeline_.subject();
        CanaryContributions known = nothing();
        MatrixXd real = contributed(views);
        if (half_is_known) {
            known.without[0] = real;
            for (Index i = 0; i < real.rows(); i += 2) {
                known.without[0].row(i).setZero();
                known.allowed[0].row(i) = real.row(i) / sabotage.clip_factor;
            }
        } else {
            known.allowed[0] = real / sabotage.clip_factor;
        }
        return analyse_influence(
            views, subject.process, subject.view, *subject.account, known, level);
    }
    [[nodiscard]] CanaryContributions nothing() const {
        const long rounds = pipeline_.subject().process.rounds();
        const std::vector<MatrixXd> none(4,
                                         MatrixXd::Zero(pipeline_.canaries().dimension(), rounds));
        return {VectorXd::Zero(pipeline_.canaries().dimension()), none, none, none};
    }
    [[nodiscard]] CanaryPipeline& pipeline() { return pipeline_; }

  private:
    static AuditConfig config(const std::string& mechanism, const std::string& view, long rounds) {
        AuditConfig config = canary_config(mechanism, view);
        config.train.plan.rounds = rounds;
        return config;
    }
    /// By the target, d x rounds.
    [[nodiscard]] static MatrixXd contributed(const std::filesystem::path& views) {
        RecordedViewReader reader(views / "0" / "view.bin");
        MatrixXd all(reader.header().dimension, static_cast<Index>(reader.records()));
        RecordedRound round;
        for (Index t = 0; reader.next(round); ++t) all.col(t) = round.gradient;
        return all;
    }
    CanaryPipeline pipeline_;
};

TEST(CanaryInfluence, OfAnHonestRunIsWhatIsAccountedFor) {
    for (const char* mechanism : {"ldp", "pairs", "decor"}) {
        CanariesOf run(mechanism);
        const CanaryInfluenceResult result = run.run({}, false, 1 - 1e-6);
        ASSERT_EQ(result.targets.size(), 1);
        const CanaryInfluence& influence = result.targets[0];
        EXPECT_TRUE(result.findings.empty()) << result.json().dump(1);
        EXPECT_NEAR(influence.noise_ratio, 1, 0.05);
        EXPECT_LT(influence.lower, 1);
        EXPECT_GT(influence.upper, 1);
        EXPECT_LT(influence.upper - influence.lower, 0.2);
        EXPECT_LE(influence.epsilon_lower, influence.epsilon_theory);
        EXPECT_GT(influence.epsilon_lower, 0.7 * influence.epsilon_theory);
        EXPECT_DOUBLE_EQ(influence.epsilon_theory, run.pipeline().account().claim.epsilon);
        EXPECT_EQ(result.json().at("verdict"), "passed");
    }
}

TEST(CanaryInfluence, TakesOffWhatIsKnown) {
    CanariesOf run("pairs");
    const CanaryInfluence influence = run.run({}, true, 1 - 1e-6).targets[0];
    EXPECT_NEAR(influence.ratio, 1, 0.2);
    EXPECT_NEAR(influence.noise_ratio, 1, 0.05);
}

TEST(CanaryInfluence, IsSeenByAgentsThatHearTheTarget) {
    CanariesOf run("ldp", "node:1", 12);
    const CanaryInfluenceResult result = run.run({}, false, 1 - 1e-6);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_NEAR(result.targets[0].ratio, 1, 0.2);
}

TEST(CanaryInfluence, OfWeakerNoiseIsFound) {
    CanariesOf run("pairs");
    CoinSabotage weaker;
    weaker.noise_factor = 0.5;
    const CanaryInfluenceResult result = run.run(weaker, true);
    const CanaryInfluence& influence = result.targets[0];
    EXPECT_NEAR(influence.noise_ratio, 0.25, 0.02);
    EXPECT_NEAR(influence.ratio, 2, 0.3);
    EXPECT_GT(influence.epsilon_lower, influence.epsilon_theory);
    ASSERT_EQ(result.findings.size(), 2);
    expect_contains(result.findings[0], "times as much as is accounted for");
    expect_contains(result.findings[1], "less than chance allows");
    EXPECT_EQ(result.json().at("verdict"), "failed");
}

TEST(CanaryInfluence, OfCanariesThatHardlyShowIsInconclusive) {
    CanariesOf run("pairs");
    CoinSabotage shorter;
    shorter.clip_factor = 0.2;
    const CanaryInfluenceResult result = run.run(shorter);
    EXPECT_LT(result.targets[0].upper, 0.5);
    EXPECT_LT(result.width(), 0.5);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_EQ(result.json().at("verdict"), "inconclusive");
}

TEST(CanaryInfluence, OfALongerClipIsFound) {
    CanariesOf run("ldp");
    CoinSabotage longer;
    longer.clip_factor = 2;
    const CanaryInfluenceResult result = run.run(longer, true);
    EXPECT_NEAR(result.targets[0].ratio, 2, 0.3);
    EXPECT_GT(result.targets[0].epsilon_lower, result.targets[0].epsilon_theory);
    EXPECT_EQ(result.findings.size(), 1);
}

TEST(CanaryInfluence, RaisesNoFalseAlarmBeyondTheLevel) {
    CanariesOf run("ldp", "eavesdropper", 6);
    int alarms = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
        alarms += run.run({}, false, 0.9, seed).findings.empty() ? 0 : 1;
    EXPECT_LE(alarms, 12);  // 6 expected at most; more than 12 once in 100
}

TEST(CanaryInfluence, IsRefusedWhereThereIsNothingToMeasure) {
    CanariesOf run("ldp");
    const AuditSubject& subject = run.pipeline().subject();
    const auto refusal = [&](const CanaryContributions& contributions, double level = 0.99) {
        return message_of<ConfigError>([&] {
            (void)analyse_influence(
                "views", subject.process, subject.view, *subject.account, contributions, level);
        });
    };
    expect_contains(refusal(run.nothing()), "canaries: none was drawn");
    expect_contains(refusal(run.nothing(), 0.4), "confidence: 0.4 is not allowed");
    CanaryContributions few = run.nothing();
    few.sent.pop_back();
    expect_contains(refusal(few), "those of 3 agents, the run has 4");
    few = run.nothing();
    few.allowed[2].conservativeResize(few.initial.size(), 3);
    expect_contains(refusal(few), "401 x 3 values of an agent");
}

TEST(AuditableTraining, IsOneWhoseMessagesAreClippedGradientsAndNoise) {
    const Graph graph = CanariesOf("ldp").pipeline().subject().topography.graph;
    TrainConfig honest;
    honest.plan.adjacency = Adjacency::record_add_remove;
    honest.record_wire = true;
    honest.record_views = {1, 2};
    for (const char* view : {"eavesdropper", "node:1", "coalition:1,2", "all-messages:2"})
        EXPECT_NO_THROW(require_auditable(honest, view, graph));
    const auto refusal = [&](auto&& change, const char* view = "eavesdropper") {
        TrainConfig config = honest;
        change(config);
        return message_of<ConfigError>([&] { require_auditable(config, view, graph); });
    };
    expect_contains(refusal([](auto& c) { c.l2 = 0.1; }), "l2: 0.1 cannot be audited");
    expect_contains(refusal([](auto& c) { c.plan.local_steps = 2; }), "local_steps: 2");
    expect_contains(refusal([](auto& c) { c.secure_sum = true; }), "secure_sum: on");
    expect_contains(refusal([](auto& c) { c.pad_rounds = true; }), "pad_rounds: on");
    expect_contains(refusal([](auto& c) { c.plan.adjacency = Adjacency::agent; }),
                    "adjacency: agent cannot be audited");
    expect_contains(refusal([](auto& c) { c.record_wire = false; }),
                    "record_view: what eavesdropper sees is not recorded");
    expect_contains(refusal([](auto&) {}, "all-messages:1,3"), "record_view=\"1,3,eavesdropper\"");
    expect_contains(refusal([](auto&) {}, "all-nodes"), "all-nodes is not one observer");
}

}  // namespace
}  // namespace sotto::test
