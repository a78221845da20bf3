#include "training/learnt_clip.hpp"

#include <cmath>

#include "options/train_options.hpp"
#include "planning/budgets.hpp"
#include "sotto/core/error.hpp"
#include "tasks/task.hpp"
#include "training/resume_fixtures.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::logistic_config;
using test::message_of;
using test::TemporaryFolder;

/// Records of an agent, sampled by secret coins.
TrainConfig sampled_config(const TemporaryFolder& folder, const std::string& mechanism) {
    TrainConfig config = logistic_config(folder, 4, mechanism, 300);
    config.plan.adjacency = Adjacency::record_zero_out;
    config.plan.participation.poisson = true;
    config.plan.batch_size = 16;
    config.plan.epsilon = 50;
    config.plan.learn_clip = true;
    config.plan.clip_norm = 0.02;
    config.plan.steps.step_size = 0.5;
    config.run_directory = folder.path(mechanism);
    return config;
}

/// Of the gradients of all training records at a model, the part that is no longer than this.
double part_within(const TrainConfig& config, const Eigen::VectorXd& model, double clip) {
    const auto network = make_memory_network(config.graph.topology.agents, 1);
    const LocalTask task =
        build_task(config.task, *network, Membership::everybody(config.graph.topology.agents));
    double within = 0, all = 0;
    for (const auto& objective : task.objectives)
        for (Eigen::Index row = 0; row < objective->records(); ++row) {
            Eigen::VectorXd gradient(objective->dimension());
            objective->mean_gradient(model, std::vector<Eigen::Index>{row}, gradient);
            within += gradient.norm() <= clip ? 1 : 0;
            all += 1;
        }
    return within / all;
}

TEST(LearntClip, ComesToTheQuantileThroughThePlansNoise) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"none", "pairs"})
        for (const double quantile : {0.3, 0.7}) {
            TrainConfig config = sampled_config(folder, mechanism);
            config.clip.quantile = quantile;
            config.clip.share = 0.2;
            config.run_directory = folder.path(mechanism + std::to_string(quantile));
            const TrainResult result = test::train(config);
            ASSERT_TRUE(result.clip_norm);
            EXPECT_GT(*result.clip_norm, 0.1) << "it started at 0.02";
            const Eigen::MatrixXd models = test::models_of(config);
            EXPECT_NEAR(part_within(config, models.col(0), *result.clip_norm),
                        quantile,
                        mechanism == "none" ? 0.1 : 0.2);
        }
}

TEST(LearntClip, SpendsWhatAGivenOneSpends) {
    const TemporaryFolder folder;
    TrainConfig config = sampled_config(folder, "pairs");
    const TrainResult learnt = test::train(config);
    const test::Json ledger = test::read_json(folder.path("pairs/ledger.json"));
    expect_contains(ledger.at("statements").dump(), "the clip is learnt, from 0.02");
    EXPECT_EQ(test::read_json(folder.path("pairs/summary.json")).at("clip_norm"),
              *learnt.clip_norm);
    config.plan.learn_clip = false;
    config.run_directory = folder.path("given");
    const TrainResult given = test::train(config);
    EXPECT_FALSE(given.clip_norm);
    EXPECT_EQ(learnt.epsilon, given.epsilon);
    EXPECT_EQ(read_file(folder.path("pairs/plan.json")), read_file(folder.path("given/plan.json")));
    // Models have no more parameters than with a given clip.
    EXPECT_EQ(test::models_of(folder.path("pairs"), {0}).rows(),
              test::models_of(folder.path("given"), {0}).rows());
}

TEST(LearntClip, RateIsLowWhereNoiseIsLoud) {
    TrainConfig config;
    config.plan.learn_clip = true;
    config.plan.adjacency = Adjacency::record_zero_out;
    config.plan.participation.poisson = true;
    const std::vector<Eigen::Index> records(20, 1600);
    EXPECT_EQ(clip_rate_for(config, 20, records), 0.2);
    config.plan.adjacency = Adjacency::agent;
    config.plan.participation = {};
    const double agents = clip_rate_for(config, 20, records);
    EXPECT_LT(agents, 0.01);
    // Variance of the measured part: noise of S against sqrt(s) C_0 (p + 1 - p) / max(p, 1 - p).
    const PlanConfig& plan = config.plan;
    const auto budgets = build_budgets(plan, 20);
    const auto exposures = build_exposures(plan, 20, records);
    const double variance = 1 / precision_limit(budgets[0], exposures[0]) /
                            std::pow(std::sqrt(config.clip.share) * 0.1 / 0.9, 2);
    EXPECT_NEAR(agents, 2 * 0.4 * 0.04 / (variance * 4 / 20), 1e-12);
    config.clip.share *= 2;
    EXPECT_NEAR(clip_rate_for(config, 20, records), 2 * agents, 1e-12);
    config.plan.mechanism = "none";
    EXPECT_EQ(clip_rate_for(config, 20, records), 0.2);
}

TEST(LearntClip, IsInTheConfigurationThatARunLeaves) {
    const TemporaryFolder folder;
    const TrainConfig config = sampled_config(folder, "corn");
    (void)test::train(config);
    const std::string ini = read_file(folder.path("corn/config.ini"));
    expect_contains(ini, "clip-norm = learnt:0.02\n");
}

TEST(LearntClip, IsReadAndWritten) {
    const auto read = [](const std::string& text) {
        return read_train_config({{"clip-norm", text}}).plan;
    };
    EXPECT_TRUE(read("learnt").learn_clip);
    EXPECT_EQ(read("learnt").clip_norm, PlanConfig{}.clip_norm);
    EXPECT_EQ(read("learnt:3").clip_norm, 3);
    EXPECT_FALSE(read("3").learn_clip);
    for (const std::string wrong :
         {"learnt:", "learnt3", "learnt:0", "learnts", "learnt:-1", "0", "x"})
        expect_contains(message_of<ConfigError>([&] { (void)read(wrong); }), "clip-norm");
}

TEST(LearntClip, IsRefusedWhereItMeansNothing) {
    const TemporaryFolder folder;
    TrainConfig laplace = logistic_config(folder, 4, "homomorphic", 5);
    laplace.plan.learn_clip = true;
    expect_contains(message_of<ConfigError>([&] { (void)test::train(laplace); }), "L1 norm");
    TrainConfig quadratic = test::quadratic_config(4, "ldp", 5);
    quadratic.plan.learn_clip = true;
    expect_contains(message_of<ConfigError>([&] { require_given_clip(quadratic.plan); }),
                    "clip-norm: learnt is not possible here");
}

using LearntClipRun = test::ResumableRun;

TEST_F(LearntClipRun, GoesOnBitForBit) {
    const auto configured = [&](const std::string& name) {
        TrainConfig result = config(name);
        result.plan.learn_clip = true;
        return result;
    };
    const TrainResult whole = test::run(configured("whole"));
    (void)test::run_until_stopped(configured("parts"), 23);
    const TrainResult rest = test::run(test::resumed(configured("ignored"), path("parts")));
    EXPECT_EQ(test::models_of(path("parts")), test::models_of(path("whole")));
    EXPECT_EQ(rest.clip_norm, whole.clip_norm);
    EXPECT_NE(*rest.clip_norm, PlanConfig{}.clip_norm);
}

}  // namespace
}  // namespace sotto
