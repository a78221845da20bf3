#include "privacy/ledger_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/json.hpp"
#include "core/test_support.hpp"
#include "privacy/ledger_fixtures.hpp"
#include "privacy/sum_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using namespace test;
using Json = nlohmann::json;

Json json_of(const Ledger& ledger, Ledger::Status status, long completed) {
    return Json::parse(to_json(ledger, status, completed));
}

TEST(LedgerJson, CountsAllPlannedRoundsWhileRunningAndAfterAFailure) {
    const Ledger ledger = make_ledger(private_plan({1, 1}));
    for (const auto& [status, name] :
         {std::pair{Ledger::Status::running, "running"}, {Ledger::Status::failed, "failed"}}) {
        const Json json = json_of(ledger, status, 36);
        EXPECT_EQ(json["status"], name);
        EXPECT_EQ(json["rounds"], (Json{{"planned", 100}, {"completed", 36}, {"accounted", 100}}));
        EXPECT_EQ(json["headline"]["mu"], ledger.mu_after(100));
    }
}

TEST(LedgerJson, CountsCompletedRoundsWhenInterruptedOrCompleted) {
    const Ledger ledger = make_ledger(private_plan({1, 1}));
    const Json interrupted = json_of(ledger, Ledger::Status::interrupted, 36);
    EXPECT_EQ(interrupted["status"], "interrupted");
    EXPECT_EQ(interrupted["rounds"]["accounted"], 36);
    EXPECT_DOUBLE_EQ(interrupted["headline"]["mu"], 0.2 * 6);
    EXPECT_DOUBLE_EQ(interrupted["headline"]["epsilon"], gdp_epsilon(0.2 * 6, delta));
    EXPECT_DOUBLE_EQ(interrupted["agents"][0]["temporal_sensitivity_squared"], 36.0);
    const Json completed = json_of(ledger, Ledger::Status::completed, 100);
    EXPECT_EQ(completed["status"], "completed");
    EXPECT_EQ(completed["rounds"]["accounted"], 100);
    EXPECT_DOUBLE_EQ(completed["headline"]["mu"], 2.0);
}

TEST(LedgerJson, BeforeTheFirstRoundNothingIsRevealed) {
    const Json json = json_of(make_ledger(private_plan({1, 1})), Ledger::Status::interrupted, 0);
    EXPECT_EQ(json["headline"]["mu"], 0.0);
    EXPECT_EQ(json["headline"]["epsilon"], 0.0);
    EXPECT_EQ(json["headline"]["infinite"], false);
}

TEST(LedgerJson, SaysWhatWasPromisedAndForWhom) {
    const NoisePlan plan = private_plan({1, 2, 4});
    const Json json =
        json_of(make_ledger(plan, {Adjacency::record, {4}, false}), Ledger::Status::completed, 100);
    EXPECT_EQ(json["format"], "sotto-ledger");
    EXPECT_EQ(json["version"], 2);
    EXPECT_EQ(json["mechanism"], "hand-made");
    EXPECT_EQ(json["plan_hash"], to_hex(plan.hash()));
    EXPECT_EQ(json["adjacency"], "record");
    EXPECT_EQ(json["participation"], "cyclic:4");
    EXPECT_EQ(json["delta"], delta);
    EXPECT_EQ(json["target"], (Json{{"epsilon", 10.0}, {"calibration", "exact"}}));
    EXPECT_EQ(json["headline"]["argument"], "adaptive");
    EXPECT_TRUE(contains(json["headline"]["observer"].get<std::string>(), "eavesdropper"));
    ASSERT_EQ(json["agents"].size(), 3U);
    double largest = 0;
    for (int u = 0; u < 3; ++u) {
        const Json& agent = json["agents"][static_cast<std::size_t>(u)];
        EXPECT_EQ(agent["agent"], u);
        EXPECT_DOUBLE_EQ(agent["sensitivity"], 0.1 * (1 + u));
        EXPECT_EQ(agent["temporal_sensitivity_squared"], 25.0);
        EXPECT_EQ(agent["target_epsilon"], 10.0);
        EXPECT_DOUBLE_EQ(agent["mu"], 0.1 * (1 + u) * 5 / std::pow(2.0, u));
        EXPECT_EQ(agent["infinite"], false);
        largest = std::max(largest, agent["mu"].get<double>());
    }
    EXPECT_EQ(json["headline"]["mu"], largest);
    EXPECT_EQ(json["noise"]["keys"], "operating system");
    EXPECT_EQ(json["noise"]["insecure"], false);
    EXPECT_EQ(json["noise"]["grid_step"], 0x1p-40);
    EXPECT_EQ(json["noise"]["streams_per_agent"], 1);
}

TEST(LedgerJson, WritesAnInfiniteLossAsNull) {
    const Json json = json_of(make_ledger(no_noise(2)), Ledger::Status::completed, 100);
    for (const Json& entry : {json["headline"], json["agents"][0], json["agents"][1]}) {
        EXPECT_TRUE(entry["mu"].is_null());
        EXPECT_TRUE(entry["epsilon"].is_null());
        EXPECT_EQ(entry["infinite"], true);
    }
    EXPECT_TRUE(json["target"]["epsilon"].is_null());
    EXPECT_TRUE(json["agents"][0]["target_epsilon"].is_null());
    EXPECT_TRUE(json["observers"].empty());
}

TEST(LedgerJson, NamesTheWorstCuriousAgent) {
    const NoisePlan plan = random_plan(make_graph(Topology::ring, 6), 4);
    const Json json = json_of(make_ledger(plan), Ledger::Status::completed, 100);
    ASSERT_EQ(json["observers"].size(), 1U);
    std::vector<Exposure> exposures;
    for (int u = 0; u < 6; ++u) exposures.push_back({0.1 * (1 + u), 100, 1});
    const auto worst = worst_curious_agent(plan, exposures, delta);
    EXPECT_EQ(json["observers"][0]["agent"], worst->observer);
    EXPECT_EQ(json["observers"][0]["target"], worst->target);
    EXPECT_DOUBLE_EQ(json["observers"][0]["mu"], worst->guarantee.loss.mu().value());
    // Whoever knows seeds learns at least as much as the eavesdropper.
    EXPECT_GE(json["observers"][0]["mu"], json["headline"]["mu"].get<double>() * (1 - 1e-12));
}

TEST(LedgerJson, SaysThatASharedSeedProtectsAgainstNoAgent) {
    const Json json = json_of(make_ledger(shared_seed_plan(4)), Ledger::Status::completed, 100);
    EXPECT_FALSE(json["headline"]["mu"].is_null());
    ASSERT_EQ(json["observers"].size(), 1U);
    for (const Json& observer : json["observers"]) {
        EXPECT_TRUE(observer["epsilon"].is_null());
        EXPECT_EQ(observer["infinite"], true);
    }
}

TEST(LedgerJson, ListsThePhasesAndWhoLeft) {
    const Json json = json_of(Ledger(resumed_record()), Ledger::Status::interrupted, 60);
    EXPECT_EQ(json["rounds"], (Json{{"planned", 100}, {"completed", 60}, {"accounted", 70}}));
    ASSERT_EQ(json["phases"].size(), 2U);
    EXPECT_EQ(json["phases"][0]["rounds"], 40);
    EXPECT_EQ(json["phases"][1]["first_round"], 30);
    EXPECT_EQ(json["phases"][1]["rounds"], 30);
    EXPECT_EQ(json["phases"][1]["key_epoch"], 1);
    EXPECT_EQ(json["phases"][1]["agents_gone"], Json::array({1}));
    ASSERT_EQ(json["agents"].size(), 3U);
    EXPECT_EQ(json["agents"][1]["left_after"], 40);
    EXPECT_FALSE(json["agents"][0].contains("left_after"));
    EXPECT_EQ(json["agents"][2]["sensitivity"], 0.3);
    EXPECT_TRUE(json["agents"][0]["temporal_sensitivity_squared"].is_null());
}

TEST(LedgerJson, ListsAdditionalViewsWhereThereAreAny) {
    Ledger ledger = make_ledger(private_plan({1, 1}));
    EXPECT_FALSE(json_of(ledger, Ledger::Status::running, 0).contains("views"));
    LedgerView view;
    view.view = "node:0";
    view.target = 1;
    view.observers = {0};
    view.rounds = 12;
    view.worst = guarantee_of(PrivacyLoss::gaussian(infinity), delta);
    view.mean_epsilon = infinity;
    ledger.set_views({view});
    const Json json = json_of(ledger, Ledger::Status::running, 0);
    ASSERT_EQ(json["views"].size(), 1U);
    EXPECT_EQ(json["views"][0]["view"], "node:0");
    EXPECT_EQ(json["views"][0]["rounds"], 12);
    EXPECT_EQ(json["views"][0]["infinite"], true);
    EXPECT_TRUE(json["views"][0]["mean_epsilon"].is_null());
}

TEST(LedgerJson, GivesNoMuUnderLaplaceNoise) {
    NoisePlan plan = private_plan({2, 2});
    for (auto& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    const Ledger ledger = make_ledger(plan);
    for (const long rounds : {0L, 10L}) {
        const Json json = json_of(ledger, Ledger::Status::interrupted, rounds);
        EXPECT_TRUE(json["headline"]["mu"].is_null());
        EXPECT_EQ(json["headline"]["epsilon"], ledger.epsilon_after(rounds));
        EXPECT_EQ(json["delta"], 0);
    }
}

TEST(LedgerJson, HoldsTheStatementsOfItsRecord) {
    PrivacyRecord record = make_record(private_plan({1, 1}), {Adjacency::agent, {}, true});
    const Json json = json_of(Ledger(record), Ledger::Status::completed, 1);
    EXPECT_EQ(json["noise"]["insecure"], true);
    EXPECT_EQ(json["statements"].get<std::vector<std::string>>(), statements_of(record));
    EXPECT_EQ(json["authentication"], "unauthenticated");
    record.authentication = "roster 00ff";
    EXPECT_EQ(json_of(Ledger(record), Ledger::Status::running, 0)["authentication"], "roster 00ff");
    record.authentication.clear();
    EXPECT_FALSE(json_of(Ledger(record), Ledger::Status::running, 0).contains("authentication"));
}

TEST(LedgerJson, NamesTheTrustedAggregator) {
    NoisePlan plan = blank_plan(3);
    plan.aggregation = Aggregation::trusted_mean;
    add_stream(plan, {0}, {1.0});
    const Json json = json_of(make_ledger(plan), Ledger::Status::completed, 100);
    EXPECT_TRUE(contains(json["headline"]["observer"].get<std::string>(), "trusted aggregator"));
    EXPECT_DOUBLE_EQ(json["headline"]["mu"], 0.3 * 10);
}

TEST(LedgerJson, NamesTheCoalitionsThePlanIsMadeFor) {
    NoisePlan plan = random_plan(make_graph(Topology::ring, 5), 4);
    plan.coalition_size = 1;
    const Json json = json_of(make_ledger(plan), Ledger::Status::completed, 100);
    EXPECT_EQ(json["headline"]["observer"],
              "any coalition of 1 agent, with all messages of all rounds");
    ASSERT_EQ(json["observers"].size(), 2U);
    EXPECT_LE(json["observers"][0]["mu"].get<double>(), json["headline"]["mu"].get<double>());
    EXPECT_DOUBLE_EQ(json["observers"][1]["mu"], json["headline"]["mu"]);
}

TEST(LedgerJson, SaysWhatSecureSumsHide) {
    PrivacyRecord record = make_record(private_plan({1, 1}));
    EXPECT_FALSE(json_of(Ledger(record), Ledger::Status::completed, 100).contains("secure_sums"));
    record.secure_sums = five_agents();
    record.more_statements = {"The last line."};
    const Json json = json_of(Ledger(record), Ledger::Status::completed, 100);
    EXPECT_EQ(json["secure_sums"]["against"][1]["worst"]["exposed"], Json::array({1}));
    const auto lines = json["statements"].get<std::vector<std::string>>();
    EXPECT_EQ(lines.back(), "The last line.");
    for (const std::string& line : statements_of(five_agents()))
        EXPECT_NE(std::ranges::find(lines, line), lines.end()) << line;
}

TEST(LossJson, ComesBackAsItWas) {
    const std::vector<SampledRounds> rounds{
        {1.1, 0.01, 400}, {2.2, 0.05, 200}, allocated_rounds(3, 7, 2)};
    const PrivacyLoss sampled = PrivacyLoss::sampled(rounds);
    for (const PrivacyLoss& loss : {PrivacyLoss(),
                                    PrivacyLoss::gaussian(1.25),
                                    PrivacyLoss::pure(0),
                                    PrivacyLoss::pure(3),
                                    compose(PrivacyLoss::gaussian(1), PrivacyLoss::pure(3)),
                                    sampled,
                                    compose(sampled, PrivacyLoss::gaussian(2)),
                                    compose(sampled, PrivacyLoss::pure(0.5))})
        EXPECT_EQ(loss_from_json(JsonDocument(loss_json(loss).dump()).root()), loss)
            << loss_json(loss);
    EXPECT_EQ(loss_json(sampled)["sampled_rounds"][1]["count"], 200);
    EXPECT_FALSE(loss_json(sampled)["sampled_rounds"][1].contains("rounds_an_epoch"));
    EXPECT_EQ(loss_json(sampled)["sampled_rounds"][2]["rounds_an_epoch"], 7);
}

TEST(LossJson, IsReadStrictly) {
    for (
        const char* wrong :
        {"{}",
         "[]",
         "3",
         R"({"rho": 1})",
         R"({"mu^2": -1})",
         R"({"mu^2": "1"})",
         R"({"epsilon": null})",
         R"({"sampled_rounds": []})",
         R"({"sampled_rounds": {}})",
         R"({"sampled_rounds": [3]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 1, "x": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 0, "sampling_probability": 0.1, "count": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 1.1, "count": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": -1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 1.5}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 2000000000}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "count": 1, "rounds_an_epoch": 9}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 1, "count": 1, "rounds_an_epoch": 1}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 0.01, "sampling_probability": 0.1, "count": 1, "rounds_an_epoch": 10}]})",
         R"({"sampled_rounds": [{"noise_multiplier": 1, "sampling_probability": 0.1, "rounds_an_epoch": 10}]})"})
        EXPECT_THROW((void)loss_from_json(JsonDocument(wrong).root()), DataError) << wrong;
}

using OrderedJson = nlohmann::ordered_json;

TEST(SumHidingJson, HasAnEntryForEveryNumberOfColluders) {
    const OrderedJson json = json_of(test::five_agents());
    EXPECT_EQ(json["withstand"], 1);
    EXPECT_EQ(json["rounds"], 2);
    EXPECT_EQ(json["gossip_steps"], 1);
    EXPECT_EQ(json["mask_partners"], 16);
    EXPECT_TRUE(json["known"].is_null());
    ASSERT_EQ(json["against"].size(), 3U);
    const OrderedJson& one = json["against"][0];
    EXPECT_EQ(one["exposed"], OrderedJson::array());
    EXPECT_EQ(one["smallest_sum"], 3);
    EXPECT_EQ(one["least_hidden"], 0.8164);
    EXPECT_TRUE(one["worst"].is_null());
    const OrderedJson& two = json["against"][1];
    EXPECT_EQ(two["colluders"], 2);
    EXPECT_EQ(two["computed"], true);
    EXPECT_EQ(two["exposed"], OrderedJson::array({0, 1}));
    EXPECT_EQ(two["exposed_in_every_round"], OrderedJson::array({0}));
    EXPECT_EQ(two["rounds_exposed"], OrderedJson::array({2, 1, 0, 0, 0}));
    EXPECT_EQ(two["worst"]["colluders"], OrderedJson::array({0, 2}));
    EXPECT_EQ(two["worst"]["exposed"], OrderedJson::array({1}));
    EXPECT_EQ(two["worst"]["round"], 1);
    EXPECT_EQ(json["against"][2].dump(), R"({"colluders":3,"computed":false})");
}

TEST(SumHidingJson, HasNullForWhatWasNotCounted) {
    SumHiding hiding = test::five_agents();
    hiding.against[0].smallest_sum.reset();
    hiding.known = SumExample{{0, 3, 4}, {2}, 0};
    const OrderedJson json = json_of(hiding);
    EXPECT_TRUE(json["against"][0]["smallest_sum"].is_null());
    EXPECT_EQ(json["known"]["exposed"], OrderedJson::array({2}));
}

}  // namespace
}  // namespace sotto
