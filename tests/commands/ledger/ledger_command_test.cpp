#include "commands/ledger/ledger_command.hpp"

#include "config/run_fixtures.hpp"
#include "core/numbers.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;

RecordedLedger run_with(const std::string& name, const std::vector<PrivacyLoss>& losses) {
    RecordedLedger run;
    run.directory = "runs/" + name;
    run.run = name;
    run.mechanism = "pairs";
    run.status = "completed";
    run.rounds_planned = 100;
    run.rounds_accounted = 25;
    run.delta = 1e-5;
    run.observer = "everybody";
    run.phases = {{{"start"}, 25, {}}};
    for (const PrivacyLoss& loss : losses)
        run.agents.push_back({static_cast<int>(run.agents.size()), loss, std::nullopt, ""});
    return run;
}

ComposedRuns composed(const std::vector<PrivacyLoss>& first) {
    const auto mu = [](double value) { return PrivacyLoss::gaussian(value); };
    return compose_runs(
        {run_with("a", first), run_with("b", {mu(0.4), mu(0.8)})}, std::nullopt, std::nullopt);
}

TEST(LedgerReport, ShowsRunsAndWhatTheyComeTo) {
    const std::string text =
        ledger_report_text(composed({PrivacyLoss::gaussian(0.3), PrivacyLoss::gaussian(0.6)}));
    expect_contains(text, "runs/a  pairs                  25 of 100         0.6");
    expect_contains(text, "all 2 runs together, adjacency agent, delta 1e-05\n");
    expect_contains(text, "agent 1              epsilon ");
    EXPECT_LT(text.find("agent 1 "), text.find("agent 0 ")) << "who lost most is first";
    expect_contains(text, "mu 0.5        in 2 runs");
    expect_contains(text, "whoever had the data");
    expect_contains(text, "note: agents are matched by their numbers");
}

// Data do not move within a run, whichever parts agents' losses have.
TEST(LedgerReport, OfOneRunIsThatOfItsWorstAgent) {
    const PrivacyLoss sampled = PrivacyLoss::sampled(std::vector<SampledRounds>{{1, 0.1, 100}});
    const ComposedRuns one = compose_runs(
        {run_with("a", {sampled, PrivacyLoss::gaussian(1)})}, std::nullopt, std::nullopt);
    EXPECT_EQ(one.anybody_epsilon, one.worst().epsilon);
    EXPECT_EQ(ledger_report_text(one).find("whoever had the data"), std::string::npos);
}

TEST(LedgerReport, IsAnObjectForPrograms) {
    const Json json = Json::parse(
        ledger_report_json(composed({PrivacyLoss::gaussian(0.3), PrivacyLoss::gaussian(0.6)})));
    EXPECT_EQ(json.at("matched_by"), "number");
    EXPECT_EQ(json.at("runs").size(), 2U);
    EXPECT_EQ(json.at("runs")[0].at("rounds").at("accounted"), 25);
    EXPECT_NEAR(json.at("worst").at("mu").get<double>(), 1, 1e-12);
    EXPECT_EQ(json.at("worst").at("agent"), 1);
    EXPECT_NEAR(json.at("agents")[0].at("mu").get<double>(), 0.5, 1e-12);
    EXPECT_EQ(json.at("agents")[0].at("runs"), 2);
    EXPECT_NEAR(json.at("anybody").at("mu").get<double>(), 1, 1e-12);
    EXPECT_EQ(json.at("delta"), 1e-5);
}

TEST(LedgerReport, SaysWhatIsInfinite) {
    const ComposedRuns all =
        composed({PrivacyLoss::gaussian(infinity), PrivacyLoss::gaussian(infinity)});
    expect_contains(ledger_report_text(all), "epsilon infinite");
    const Json json = Json::parse(ledger_report_json(all));
    EXPECT_TRUE(json.at("worst").at("infinite").get<bool>());
    EXPECT_TRUE(json.at("worst").at("epsilon").is_null());
}

TEST(LedgerReport, OfManyAgentsShowsThoseWhoLostMost) {
    std::vector<PrivacyLoss> losses;
    for (int u = 0; u < 50; ++u) losses.push_back(PrivacyLoss::gaussian(0.01 * u));
    const std::string text =
        ledger_report_text(compose_runs({run_with("a", losses)}, std::nullopt, std::nullopt));
    expect_contains(text, "agent 49 ");
    expect_contains(text, "and 30 agents that lost less");
    EXPECT_EQ(text.find("agent 7 "), std::string::npos);
}

KeptAccount kept() {
    BudgetAccount account({10, 1e-5, Adjacency::agent});
    Digest run{};
    account.reserve({run, "2026-01-01T00:00:00Z", "pairs", 100, PrivacyLoss::gaussian(1), {}, {}});
    account.settle({run, "", "", 25, PrivacyLoss::gaussian(0.5), {}, {}});
    run.fill(1);
    account.reserve({run, "2026-01-02T00:00:00Z", "ldp", 7, PrivacyLoss::gaussian(1), {}, {}});
    return {std::move(account), std::nullopt, 3};
}

TEST(KeptAccountReport, ShowsWhatWasSpentAndWhatIsLeft) {
    const std::string text = kept_account_text(kept(), "mine");
    expect_contains(text, "account    mine, not signed");
    expect_contains(text, "allowed    epsilon 10 at delta 1e-05, adjacency agent\n");
    expect_contains(text, "2026-01-01T00:00:00Z  pairs              25 rounds  epsilon ");
    expect_contains(text, "settled\n");
    expect_contains(text, "reserved\n");
    KeptAccount with_owner = kept();
    with_owner.owner = IdentityKey{};
    expect_contains(kept_account_text(with_owner, "mine"), "signed by 0000");
}

TEST(KeptAccountReport, IsAnObjectForPrograms) {
    const Json json = Json::parse(kept_account_json(kept(), "mine"));
    const double mu = std::sqrt(1.25);
    EXPECT_NEAR(json.at("epsilon_spent").get<double>(), gdp_epsilon(mu, 1e-5), 1e-9);
    const double whole = gdp_mu(10, 1e-5);
    EXPECT_NEAR(json.at("epsilon_left").get<double>(),
                gdp_epsilon(std::sqrt(whole * whole - 1.25), 1e-5),
                1e-6);
    EXPECT_EQ(json.at("entries").size(), 2U);
    EXPECT_EQ(json.at("entries")[0].at("state"), "settled");
    EXPECT_TRUE(json.at("owner").is_null());
}

}  // namespace
}  // namespace sotto
