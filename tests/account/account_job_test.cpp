#include "account/account_job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "account/account_fixtures.hpp"
#include "account/published_bound.hpp"
#include "commands/account/account_text.hpp"
#include "config/run_fixtures.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "views/gossip_bounds.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::expect_contains;
using test::Json;
using test::laplace_config;
using test::message_of;
using test::TemporaryFolder;

template <class Value>
bool any_published(const std::vector<std::optional<Value>>& bounds) {
    return std::ranges::any_of(bounds, [](const auto& bound) { return bound.has_value(); });
}

TEST(BuildAccountSubject, MeansByNoiseStdWhatHidesAnAgentInOneRound) {
    for (const std::string mechanism : {"ldp", "decor", "pairs", "corn", "anti-pgd"})
        for (const double noise_std : {0.5, 3.0}) {
            AccountConfig config = config_of(mechanism, "eavesdropper");
            config.subject.plan.noise_std = noise_std;
            config.subject.sensitivity = 2;
            const Accounted accounted = account(config);
            const NoisePlan& plan = accounted.subject->plan;
            const double largest = coalition_precision(plan, plan.coalition_size).maxCoeff();
            EXPECT_NEAR(largest * noise_std * noise_std, 1, 1e-6) << mechanism;
            EXPECT_EQ(accounted.subject->exposures[0].sensitivity, 2);
        }
    AccountConfig config = config_of("ldp", "eavesdropper");
    config.subject.plan.plan_file = "any.json";
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }), "--noise-std");
}

TEST(RunAccount, GivesTheEavesdropperTheGuaranteeOfThePlan) {
    for (const std::string mechanism : {"ldp", "decor", "pairs", "corn", "cdp", "anti-pgd"}) {
        AccountConfig config = config_of(mechanism, "eavesdropper");
        config.subject.plan.noise_std.reset();
        const Accounted accounted = account(config);
        const auto expected = guarantees(
            accounted.subject->plan, {}, accounted.subject->exposures, config.subject.plan.delta);
        ASSERT_EQ(accounted.result.pairs.size(), 7u);
        for (const PairFigure& pair : accounted.result.pairs) {
            EXPECT_NEAR(pair.guarantee.loss.mu().value(),
                        expected[static_cast<std::size_t>(pair.target)].loss.mu().value(),
                        1e-9)
                << mechanism;
            EXPECT_NEAR(pair.guarantee.epsilon, pair.eavesdropper.epsilon, 1e-8);
            EXPECT_EQ(pair.distance, -1);
            EXPECT_EQ(pair.argument.text, "all messages seen");
        }
        EXPECT_TRUE(accounted.result.by_distance.empty());
        if (mechanism == "ldp") {
            EXPECT_NEAR(accounted.result.mean_epsilon, 10, 1e-6);
        }
    }
}

TEST(RunAccount, GivesThePureEpsilonOfItsSourceUnderLaplaceNoise) {
    // [H] eq. 27: after i rounds epsilon = step G (i^2 + i) / b, gradients of L1 norm G.
    for (const long rounds : {1L, 2L, 7L}) {
        AccountConfig config = laplace_config("homomorphic", "eavesdropper", rounds);
        config.subject.plan.clip_norm = 0.3;
        const Accounted accounted = account(config);
        const NoisePlan& plan = accounted.subject->plan;
        for (const PairFigure& pair : accounted.result.pairs) {
            double scale = 0;
            for (const NoiseRow& row : plan.rows)
                if (row.sender == pair.target && row.receiver != pair.target)
                    scale = plan.scale * row.coefficients.front();
            const auto i = static_cast<double>(rounds);
            EXPECT_NEAR(pair.guarantee.epsilon, 0.2 * 0.3 * (i * i + i) / scale, 1e-9);
            EXPECT_NEAR(pair.guarantee.epsilon, 4, 1e-6) << "the budget is used up";
            EXPECT_FALSE(pair.guarantee.loss.mu().has_value());
        }
    }
}

TEST(RunAccount, BoundsPartialViewsByAllMessagesUnderLaplaceNoise) {
    for (const std::string mechanism : {"homomorphic", "laplace"})
        for (const std::string view :
             {"node:2", "coalition:0,3", "all-nodes", "worst-coalition:2", "all-messages:1"}) {
            SCOPED_TRACE(mechanism + " " + view);
            const AccountConfig config = laplace_config(mechanism, view, 5);
            const Accounted accounted = account(config);
            const auto expected = guarantees(accounted.subject->plan,
                                             {},
                                             accounted.subject->exposures,
                                             config.subject.plan.delta);
            for (const PairFigure& pair : accounted.result.pairs) {
                EXPECT_NEAR(pair.guarantee.epsilon,
                            expected[static_cast<std::size_t>(pair.target)].epsilon,
                            1e-9);
                EXPECT_NEAR(pair.eavesdropper.epsilon, pair.guarantee.epsilon, 1e-9);
                EXPECT_EQ(
                    pair.argument.text,
                    view == "all-messages:1" ? "all messages seen" : "bound: all messages seen");
                EXPECT_FALSE(any_published(pair.published));
            }
            if (view == "worst-coalition:2") {
                EXPECT_TRUE(accounted.result.search->bound_attained);
                EXPECT_NEAR(accounted.result.search->upper.epsilon, 4, 1e-6);
            }
            const Json json =
                Json::parse(account_report_json(accounted.result, config, *accounted.subject));
            EXPECT_EQ(json["delta"], 0);
            for (const Json& pair : json["pairs"]) {
                EXPECT_TRUE(pair["mu"].is_null() && pair["renyi_alpha2"].is_null());
                EXPECT_TRUE(pair["sensitivity_squared"]["abs_sum"].is_null());
                EXPECT_FALSE(pair["sensitivity_squared"]["all_messages"].is_null());
                EXPECT_EQ(pair["infinite"], false);
            }
        }
}

TEST(RunAccount, RefusesWhatHasNoMeaningUnderLaplaceNoise) {
    AccountConfig config = laplace_config("homomorphic", "secure-sum:1", 5);
    expect_contains(message_of<PrivacyError>([&] { (void)account(config); }),
                    "secure-sum is not possible with mechanism homomorphic");
    config = laplace_config("laplace", "secure-sum:1", 5);
    EXPECT_EQ(account(config).result.pairs[0].argument.text, "bound: all messages seen");
    config.subject.departures = "2:3";
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }),
                    "--departures: not possible with mechanism laplace");
}

TEST(RunAccount, AsksEveryNodeAboutEveryOther) {
    const Accounted all = account(config_of("decor", "all-nodes"));
    ASSERT_EQ(all.result.pairs.size(), 42u);
    double sum = 0;
    for (const PairFigure& pair : all.result.pairs) {
        ASSERT_EQ(pair.observers.size(), 1u);
        AccountConfig config = config_of("decor", fmt::format("node:{}", pair.observers[0]));
        config.targets = std::to_string(pair.target);
        const Accounted one = account(config);
        ASSERT_EQ(one.result.pairs.size(), 1u);
        EXPECT_NEAR(one.result.pairs[0].guarantee.loss.mu().value(),
                    pair.guarantee.loss.mu().value(),
                    1e-12);
        EXPECT_EQ(one.result.pairs[0].distance, pair.distance);
        EXPECT_EQ(pair.distance,
                  all.subject->built.topography.graph.distances_from(
                      pair.observers[0])[static_cast<std::size_t>(pair.target)]);
        sum += pair.guarantee.epsilon;
    }
    EXPECT_NEAR(all.result.mean_epsilon, sum / 42, 1e-12);
    EXPECT_TRUE(std::ranges::is_sorted(all.result.pairs, [](const auto& a, const auto& b) {
        return a.guarantee.loss.mu().value() > b.guarantee.loss.mu().value();
    }));
    int pairs = 0;
    double weighted = 0;
    for (const DistanceRow& row : all.result.by_distance) {
        EXPECT_LE(row.epsilon.min, row.epsilon.mean);
        EXPECT_LE(row.epsilon.mean, row.epsilon.max);
        EXPECT_FALSE(any_published(row.epsilon.published)) << "decor has shared noise";
        pairs += row.pairs;
        weighted += row.pairs * row.epsilon.mean;
    }
    EXPECT_EQ(pairs, 42);
    EXPECT_NEAR(weighted, sum, 1e-9);
}

/// Epsilon of a pair by one of the published bounds.
std::optional<double> published(const PairFigure& pair, const std::string& name) {
    const auto bounds = view_bounds();
    for (std::size_t i = 0; i < bounds.size(); ++i)
        if (bounds[i]->name == name && pair.published.at(i)) return pair.published.at(i)->epsilon;
    return std::nullopt;
}

TEST(RunAccount, BoundsPartialViewsOfConvexTrainings) {
    AccountConfig config = config_of("ldp", "node:0");
    config.subject.inputs = Inputs::convex;
    const Accounted convex = account(config);
    EXPECT_TRUE(convex.result.is_guarantee());
    for (const PairFigure& pair : convex.result.pairs)
        EXPECT_LE(pair.guarantee.epsilon, pair.eavesdropper.epsilon * (1 + 1e-9));
    // Steps that also shrink the model carry less of what came before.
    config.subject.l2 = 0.1;
    config.subject.plan.steps.step_size = 0.5;
    const Accounted shrinking = account(config);
    EXPECT_TRUE(shrinking.result.is_guarantee());
    ASSERT_EQ(shrinking.result.pairs.size(), convex.result.pairs.size());
    for (std::size_t i = 0; i < convex.result.pairs.size(); ++i)
        EXPECT_LE(shrinking.result.pairs[i].guarantee.epsilon,
                  convex.result.pairs[i].guarantee.epsilon * (1 + 1e-4));
}

TEST(RunAccount, TellsOfEveryObserverThatItHasAsked) {
    AccountConfig config = config_of("ldp", "all-nodes");
    config.how.threads = 2;
    std::vector<long> told;
    config.how.on_answer = [&](long done, long all) {
        EXPECT_EQ(all, 7);
        told.push_back(done);
    };
    (void)account(config);
    EXPECT_EQ(told, (std::vector<long>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(RunAccount, ComparesWithTheMuffliatoBoundWhereItApplies) {
    const Accounted ldp = account(config_of("ldp", "node:0"));
    const Eigen::VectorXd bound = muffliato_bound(
        ldp.subject->built.topography.graph, ldp.subject->built.topography.mixing, 0, 6);
    for (const PairFigure& pair : ldp.result.pairs)
        EXPECT_NEAR(published(pair, "muffliato_bound").value(),
                    gdp_epsilon(std::sqrt(bound(pair.target)), 1e-5),
                    1e-9);
    AccountConfig config = config_of("ldp", "node:0");
    config.subject.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    EXPECT_FALSE(published(account(config).result.pairs[0], "muffliato_bound"));
    config = config_of("muffliato", "node:0");
    config.subject.plan.gossip_steps = 2;
    EXPECT_FALSE(published(account(config).result.pairs[0], "muffliato_bound"));
}

TEST(RunAccount, ComparesWithTheBoundsOfGossipWhereTheyApply) {
    AccountConfig config = config_of("ldp", "node:0");
    config.subject.plan.noise_std = 2;
    config.subject.departures = "3:1";
    const Accounted messages = account(config);
    config.view = "secure-sum:0,2";
    const Accounted sums = account(config);
    for (const Accounted* accounted : {&messages, &sums})
        for (const PairFigure& pair : accounted->result.pairs) {
            const bool in_sums = accounted == &sums;
            const double squared =
                gossip_bound(in_sums ? GossipTheorem::sums : GossipTheorem::messages,
                             accounted->subject->process,
                             pair.observers,
                             pair.target);
            EXPECT_NEAR(
                published(pair, in_sums ? "gossip_sums_bound" : "gossip_messages_bound").value(),
                gdp_epsilon(std::sqrt(squared) / 2, 1e-5),
                1e-9);
            EXPECT_FALSE(published(pair, in_sums ? "gossip_messages_bound" : "gossip_sums_bound"));
        }
}

TEST(RunAccount, SaysInfiniteWhereOneSeedIsShared) {
    const AccountConfig config = config_of("corn", "node:0");
    const Accounted accounted = account(config);
    for (const PairFigure& pair : accounted.result.pairs) {
        EXPECT_TRUE(std::isinf(pair.guarantee.loss.mu().value()));
        EXPECT_TRUE(std::isinf(pair.guarantee.epsilon));
    }
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    for (const Json& pair : json["pairs"]) {
        EXPECT_TRUE(pair["mu"].is_null() && pair["epsilon"].is_null());
        EXPECT_TRUE(pair["sensitivity_squared"]["abs_sum"].is_null());
        EXPECT_EQ(pair["infinite"], true);
    }
    EXPECT_TRUE(json["mean_epsilon"].is_null());
    expect_contains(account_report_text(accounted.result, config, *accounted.subject),
                    "NOT protected: in 6 of 6 pairs");
}

TEST(AccountMatrices, AccountForSomebodyElsesObservations) {
    const TemporaryFolder folder;
    // Two agents, two rounds; both rounds' inputs of agent 0 through one noise each.
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 4), b = 0.5 * Eigen::MatrixXd::Identity(2, 2);
    a(0, 0) = 1;
    a(1, 2) = 1;
    a(1, 1) = 0.5;
    write_npy(folder.path("a.npy"), a);
    write_npy(folder.path("b.npy"), b);
    const auto run = [&](const std::string& targets) {
        return account_matrices(
            folder.path("a.npy"), folder.path("b.npy"), 2, targets, 2, {}, 1e-5);
    };
    const AccountResult result = run("all");
    ASSERT_EQ(result.pairs.size(), 2u);
    EXPECT_EQ(result.pairs[0].target, 0);
    EXPECT_NEAR(result.pairs[0].guarantee.loss.mu().value(), 2 * std::sqrt(8), 1e-9);
    EXPECT_NEAR(result.pairs[1].guarantee.loss.mu().value(), 2 * 0.5 / 0.5, 1e-9);
    expect_contains(message_of<ConfigError>([&] { (void)run("2"); }), "agent 2 does not exist");
}

TEST(AccountMatrices, AreReportedWithoutObserversAndDistances) {
    const TemporaryFolder folder;
    write_npy(folder.path("a.npy"), Eigen::MatrixXd(Eigen::RowVector2d(1, 1)));
    write_npy(folder.path("b.npy"), Eigen::MatrixXd(Eigen::MatrixXd::Ones(1, 1)));
    const AccountResult result =
        account_matrices(folder.path("a.npy"), folder.path("b.npy"), 2, "1", 3, {}, 1e-5);
    const Json json = Json::parse(matrices_report_json(result, 3, 1e-5));
    EXPECT_EQ(json["view"], "matrices");
    EXPECT_EQ(json["sensitivity"], 3);
    EXPECT_TRUE(json["by_distance"].empty() && json["ldp"].is_null());
    ASSERT_EQ(json["pairs"].size(), 1U);
    EXPECT_NEAR(json["pairs"][0]["mu"], 3, 1e-9);
    EXPECT_TRUE(json["pairs"][0]["observers"].empty());
    expect_contains(matrices_report_text(result, 3, 1e-5), "sensitivity 3; delta 1e-05");
}

TEST(Conversion, OfMuAndOfItsEpsilonAreTheSame) {
    const Conversion of_mu = convert_mu(1.5, 1e-6);
    const Conversion back = convert_epsilon(of_mu.epsilon, 1e-6);
    EXPECT_NEAR(back.mu, 1.5, 1e-9);
    EXPECT_EQ(of_mu.epsilon, gdp_epsilon(1.5, 1e-6));
    EXPECT_GT(of_mu.rdp_epsilon, of_mu.epsilon);
}

TEST(Conversion, IsSaidInJsonAndInWords) {
    const Conversion conversion = convert_mu(2, 1e-5);
    const auto json = test::Json::parse(conversion_json(conversion));
    EXPECT_EQ(json.at("mu"), 2);
    EXPECT_EQ(json.at("renyi_alpha2"), 4);
    EXPECT_EQ(json.at("delta"), 1e-5);
    EXPECT_EQ(json.at("epsilon").get<double>(), conversion.epsilon);
    EXPECT_EQ(json.at("rdp_epsilon").get<double>(), conversion.rdp_epsilon);
    test::expect_contains(conversion_text(conversion), "mu 2 is epsilon ");
    test::expect_contains(conversion_text(conversion), "order 2: 4\n");
}

TEST(SampledConversion, ReadsPhases) {
    const std::vector<SampledRounds> phases{{1, 0.01, 400}, {2.5, 1, 3}};
    EXPECT_EQ(parse_sampled_rounds("--sampled-rounds", "1:0.01:400,2.5:1:3"), phases);
    for (const char* wrong : {"",
                              "1:0.1",
                              "1:0.1:3:4",
                              "1:0.1:3,",
                              "a:0.1:3",
                              "1:b:3",
                              "1:0.1:c",
                              "1:0.1:1.5",
                              "0:0.1:3",
                              "-1:0.1:3",
                              "nan:0.1:3",
                              "1:0:3",
                              "1:1.5:3",
                              "1:nan:3",
                              "1:0.1:0",
                              "1:0.1:-3"})
        EXPECT_THROW((void)parse_sampled_rounds("--sampled-rounds", wrong), ConfigError) << wrong;
}

TEST(SampledConversion, SaysEpsilonFromBothSides) {
    const std::vector<SampledRounds> phases{{1, 0.01, 400}, {2, 0.05, 200}};
    const auto json =
        nlohmann::json::parse(sampled_conversion_json(convert_sampled_rounds(phases, 1e-5)));
    EXPECT_NEAR(json["epsilon"], 1.954, 1e-3);
    EXPECT_LT(json["epsilon_lower"], json["epsilon"]);
    EXPECT_TRUE(json["noise_multiplier"].is_null());
    EXPECT_TRUE(json["sampling_probability"].is_null());
    EXPECT_EQ(json["rounds"], 600);
    EXPECT_EQ(json["sampled_rounds"][1]["noise_multiplier"], 2);
}

TEST(SampledConversion, OfRandomAllocationStandsBesidePoissonSampling) {
    const SampledConversion found = convert_allocation(1, 10, 1, 1e-5);
    const auto json = nlohmann::json::parse(sampled_conversion_json(found));
    EXPECT_NEAR(json["epsilon"], 2.1888, 1e-3);
    EXPECT_NEAR(json["poisson_epsilon"], 2.855, 2e-3);
    EXPECT_EQ(json["rounds_an_epoch"], 10);
    EXPECT_EQ(json["epochs"], 1);
    EXPECT_EQ(json["rounds"], 10);
    expect_contains(sampled_conversion_text(found),
                    "1 epoch of 10 rounds, each record in one round");
    expect_contains(sampled_conversion_text(found), "Poisson sampling with the same noise");
    const SampledConversion budget = convert_allocated_budget(2.1888, 1e-5, 10, 1);
    EXPECT_NEAR(budget.rounds.front().noise_multiplier, 1, 2e-3);
    EXPECT_LE(budget.epsilon, 2.1888);
}

TEST(SampledConversion, FindsTheNoiseOfABudget) {
    const SampledConversion found = convert_sampled_budget(1, 1e-5, 0.01, 1000);
    EXPECT_LE(found.epsilon, 1);
    EXPECT_GT(found.epsilon, 0.999);
    const auto json = nlohmann::json::parse(sampled_conversion_json(found));
    EXPECT_NEAR(json["noise_multiplier"], 1.416, 2e-3);
    EXPECT_EQ(json["sampling_probability"], 0.01);
    EXPECT_NE(sampled_conversion_text(found).find("certified"), std::string::npos);
}

TEST(RunAccount, RefusesMorePairsThanAResultCanHold) {
    AccountConfig config = config_of("ldp", "all-nodes");
    config.subject.graph.topology.agents = 5000;
    config.subject.graph.topology.topology = Topology::ring;
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }),
                    "2.5e+07 pairs of observer and target are too many");
    config = config_of("none", "worst-all-messages:1");
    config.subject.plan.noise_std.reset();
    config.subject.graph.topology.agents = 5000;
    config.subject.graph.topology.topology = Topology::ring;
    expect_contains(message_of<ConfigError>([&] { (void)account(config); }),
                    "2.5e+07 pairs of observer and target are too many");
    config.view = "eavesdropper";
    EXPECT_TRUE(account(config).result.eavesdropper.infinite());
}

TEST(ChoiceConversion, SaysWhatTheChoiceCostsAndWhatAllTrainingsWould) {
    const ChoiceConversion conversion =
        convert_choice(PrivacyLoss::gaussian(gdp_mu(1, 1e-5)), {16, 1}, 1e-5);
    const auto json = nlohmann::json::parse(choice_conversion_json(conversion));
    EXPECT_NEAR(json["epsilon"].get<double>(), 1.74671, 1e-4);
    EXPECT_NEAR(json["epsilon_one"].get<double>(), 1, 1e-9);
    EXPECT_NEAR(
        json["epsilon_added_up"].get<double>(), gdp_epsilon(4 * gdp_mu(1, 1e-5), 1e-5), 1e-6);
    // Trainings of that epsilon make a choice of epsilon 1.
    const double each = json["epsilon_for_the_same"].get<double>();
    const ChoiceConversion again =
        convert_choice(PrivacyLoss::gaussian(gdp_mu(each, 1e-5)), {16, 1}, 1e-5);
    EXPECT_NEAR(again.cost.epsilon.upper, 1, 1e-6);
    EXPECT_NE(choice_conversion_text(conversion).find("epsilon 1.74671 for whoever sees"),
              std::string::npos);
    const SampledRounds rounds{1, 0.01, 1000};
    const auto sampled = nlohmann::json::parse(
        choice_conversion_json(convert_choice(PrivacyLoss::sampled({&rounds, 1}), {4, 0}, 1e-5)));
    EXPECT_TRUE(sampled["epsilon_by_renyi"].is_null());
    EXPECT_TRUE(sampled["epsilon_for_the_same"].is_null());
}

}  // namespace
}  // namespace sotto
