#include "sotto/privacy/ledger.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using namespace test;
using Json = nlohmann::json;

constexpr long planned = 100;
constexpr double delta = 1e-5;

struct Options {
    Adjacency adjacency = Adjacency::agent;
    Participation participation{};
    bool reproducible_noise = false;
};

Ledger make_ledger(const NoisePlan& plan, const Options& options = {}) {
    std::vector<Exposure> exposures;
    for (int u = 0; u < plan.agents; ++u)
        exposures.push_back(
            {0.1 * (1 + u),
             temporal_sensitivity_squared(plan.temporal, options.participation, planned),
             10});
    const std::vector<PrivacyBudget> budgets(static_cast<std::size_t>(plan.agents),
                                             make_budget(10, delta, Calibration::exact));
    return {plan,
            exposures,
            budgets,
            options.adjacency,
            {options.participation, {}, {}},
            planned,
            options.reproducible_noise};
}

Json json_of(const Ledger& ledger, Ledger::Status status, long completed) {
    return Json::parse(ledger.to_json(status, completed));
}

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

NoisePlan no_noise(int agents) {
    NoisePlan plan;
    plan.mechanism = "none";
    plan.agents = agents;
    return plan;
}

TEST(Ledger, GrowsWithTheRootOfTheRounds) {
    const Ledger ledger = make_ledger(private_plan({1, 2, 4}));
    for (const long rounds : {1L, 25L, 100L}) {
        const auto after = ledger.after(rounds);
        for (int u = 0; u < 3; ++u)
            EXPECT_DOUBLE_EQ(
                after[static_cast<std::size_t>(u)].mu,
                0.1 * (1 + u) * std::sqrt(static_cast<double>(rounds)) / std::pow(2.0, u));
        EXPECT_DOUBLE_EQ(ledger.mu_after(rounds), 0.1 * std::sqrt(static_cast<double>(rounds)));
        EXPECT_DOUBLE_EQ(ledger.epsilon_after(rounds), gdp_epsilon(ledger.mu_after(rounds), delta));
    }
    EXPECT_EQ(ledger.mu_after(0), 0.0);
    EXPECT_EQ(ledger.epsilon_after(0), 0.0);
    EXPECT_EQ(ledger.delta(), delta);
}

TEST(Ledger, CountsParticipationsOfTheWorstPlacedRecord) {
    const Ledger ledger = make_ledger(private_plan({1, 1}), {Adjacency::record, {10}, false});
    EXPECT_DOUBLE_EQ(ledger.mu_after(1), 0.2);
    EXPECT_DOUBLE_EQ(ledger.mu_after(10), 0.2);
    EXPECT_DOUBLE_EQ(ledger.mu_after(11), 0.2 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(ledger.mu_after(100), 0.2 * std::sqrt(10.0));
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
    EXPECT_EQ(json["version"], 1);
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
    EXPECT_EQ(json["noise"]["grid_step"], 0x1p-60);
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
    EXPECT_DOUBLE_EQ(json["observers"][0]["mu"], worst->guarantee.mu);
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

TEST(LedgerStatements, SayThatAllAgentsShareOneSeed) {
    const auto lines = make_ledger(shared_seed_plan(4)).statements();
    EXPECT_TRUE(any_contains(lines, "All agents share one seed"));
    EXPECT_FALSE(any_contains(make_ledger(private_plan({1, 1})).statements(), "share"));
    // One agent shares its seed with nobody.
    EXPECT_FALSE(any_contains(make_ledger(shared_seed_plan(1)).statements(), "All agents share"));
}

TEST(LedgerStatements, NameNoRankThatKnowsMoreThanItsOwnGroups) {
    for (const NoisePlan& plan :
         {random_plan(make_graph(Topology::ring, 6), 4), private_plan({1, 1}), shared_seed_plan(4)})
        EXPECT_FALSE(any_contains(make_ledger(plan).statements(), "ank 0"));
}

TEST(LedgerStatements, SayThatPeersAreUnauthenticatedOnlyWhereTheyAre) {
    const NoisePlan plan = private_plan({1, 1});
    const auto said = [&](const std::string& authentication) {
        return Ledger(plan,
                      {{0.1, 100, 1}, {0.1, 100, 1}},
                      {2, make_budget(10, delta, Calibration::exact)},
                      Adjacency::agent,
                      {},
                      planned,
                      false,
                      authentication);
    };
    const Ledger open = said("unauthenticated"), proved = said("roster 00ff"), nobody = said("");
    EXPECT_TRUE(any_contains(open.statements(), "unauthenticated"));
    EXPECT_FALSE(any_contains(proved.statements(), "unauthenticated"));
    EXPECT_FALSE(any_contains(nobody.statements(), "unauthenticated"));
    EXPECT_EQ(json_of(open, Ledger::Status::running, 0)["authentication"], "unauthenticated");
    EXPECT_EQ(json_of(proved, Ledger::Status::running, 0)["authentication"], "roster 00ff");
    EXPECT_FALSE(json_of(nobody, Ledger::Status::running, 0).contains("authentication"));
    // Who does not say otherwise gets the warning.
    EXPECT_TRUE(any_contains(make_ledger(plan).statements(), "unauthenticated"));
}

TEST(LedgerStatements, SayThatReproducibleNoiseIsInsecure) {
    const NoisePlan plan = private_plan({1, 1});
    const Ledger ledger = make_ledger(plan, {Adjacency::agent, {}, true});
    EXPECT_TRUE(any_contains(ledger.statements(), "INSECURE"));
    EXPECT_FALSE(any_contains(make_ledger(plan).statements(), "INSECURE"));
    const Json json = json_of(ledger, Ledger::Status::completed, 1);
    EXPECT_EQ(json["noise"]["insecure"], true);
    EXPECT_EQ(json["statements"].get<std::vector<std::string>>(), ledger.statements());
}

TEST(LedgerStatements, NameTheTrustedAggregator) {
    NoisePlan plan = blank_plan(3);
    plan.aggregation = Aggregation::trusted_mean;
    add_stream(plan, {0}, {1.0});
    const Ledger ledger = make_ledger(plan);
    EXPECT_TRUE(any_contains(ledger.statements(), "Trusted aggregator"));
    const Json json = json_of(ledger, Ledger::Status::completed, 100);
    EXPECT_TRUE(contains(json["headline"]["observer"].get<std::string>(), "trusted aggregator"));
    EXPECT_DOUBLE_EQ(json["headline"]["mu"], 0.3 * 10);
}

TEST(LedgerStatements, SayThatNoNoiseIsNoPrivacy) {
    EXPECT_TRUE(any_contains(make_ledger(no_noise(2)).statements(), "Epsilon is infinite"));
}

TEST(LedgerStatements, AlwaysSayWhatIsNotCovered) {
    for (const NoisePlan& plan : {private_plan({1, 1}), shared_seed_plan(3), no_noise(2)}) {
        const auto lines = make_ledger(plan).statements();
        EXPECT_TRUE(any_contains(lines, "unauthenticated"));
        EXPECT_TRUE(any_contains(lines, "not private outputs"));
        EXPECT_TRUE(any_contains(lines, "step size"));
        EXPECT_FALSE(any_contains(lines, "one record"));
    }
    EXPECT_TRUE(
        any_contains(make_ledger(private_plan({1, 1}), {Adjacency::record, {}, false}).statements(),
                     "no amplification"));
}

}  // namespace
}  // namespace sotto
