#include "commands/ledger/kept_account_report.hpp"

#include "config/run_fixtures.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;

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
