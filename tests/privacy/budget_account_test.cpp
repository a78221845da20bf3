#include "privacy/budget_account.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"

namespace sotto {
namespace {

constexpr AccountLimit ten{10, 1e-5, Adjacency::agent};

Digest run_id(std::uint8_t number) {
    Digest run{};
    run.fill(number);
    return run;
}

AccountEntry entry(std::uint8_t number, const PrivacyLoss& loss, long rounds = 100) {
    return {run_id(number), "2026-01-01T00:00:00Z", "pairs", rounds, loss, {}, false};
}

std::string refusal(BudgetAccount& account, const AccountEntry& asked) {
    try {
        account.reserve(asked);
    } catch (const PrivacyError& error) {
        return error.what();
    }
    return "";
}

TEST(BudgetAccount, AddsUpGaussianLossesAsOneOfTheRootOfTheSumOfSquares) {
    BudgetAccount account(ten);
    account.reserve(entry(1, PrivacyLoss::gaussian(0.3)));
    account.reserve(entry(2, PrivacyLoss::gaussian(0.4)));
    account.reserve(entry(3, PrivacyLoss::gaussian(1.2)));
    EXPECT_NEAR(account.spent().mu().value(), 1.3, 1e-14);
    EXPECT_NEAR(account.epsilon_spent(), gdp_epsilon(1.3, 1e-5), 1e-12);
}

TEST(BudgetAccount, AddsUpPureLossesAndBoundsBothKindsFromAbove) {
    BudgetAccount account({10, 1e-5, Adjacency::agent});
    account.reserve(entry(1, PrivacyLoss::pure(1)));
    account.reserve(entry(2, PrivacyLoss::pure(2)));
    // Pure epsilon 3 at delta 1e-5: E + log(1 - delta (1 + e^-E)).
    EXPECT_NEAR(account.epsilon_spent(), 3 + std::log1p(-1e-5 * (1 + std::exp(-3))), 1e-12);
    account.reserve(entry(3, PrivacyLoss::gaussian(0.5)));
    EXPECT_GT(account.epsilon_spent(), gdp_epsilon(0.5, 1e-5));
    EXPECT_LE(account.epsilon_spent(), gdp_epsilon(0.5, 1e-5) + 3);
}

TEST(BudgetAccount, IsSpentToTheLastDigitAndRefusesWhatIsMore) {
    const double whole = gdp_mu(10, 1e-5);
    BudgetAccount account(ten);
    account.reserve(entry(1, PrivacyLoss::gaussian(whole * std::sqrt(0.5))));
    account.reserve(entry(2, PrivacyLoss::gaussian(whole * std::sqrt(0.5))));
    EXPECT_NEAR(account.epsilon_spent(), 10, 1e-9);
    const std::string reason = refusal(account, entry(3, PrivacyLoss::gaussian(0.01)));
    EXPECT_NE(reason.find("epsilon 10 of 10 at delta 1e-05 is spent by 2 other runs"),
              std::string::npos)
        << reason;
    EXPECT_EQ(account.entries().size(), 2U);
}

TEST(BudgetAccount, SaysHowMuchARunMayStillAskFor) {
    BudgetAccount account(ten);
    account.reserve(entry(1, PrivacyLoss::gaussian(gdp_mu(6, 1e-5))));
    const PrivacyLoss left = account.largest_left(account.spent(), PrivacyLoss::gaussian(1));
    EXPECT_NEAR(std::pow(left.mu().value(), 2),
                std::pow(gdp_mu(10, 1e-5), 2) - std::pow(gdp_mu(6, 1e-5), 2),
                1e-9);
    const double asked = 7.12;
    EXPECT_NEAR(left.epsilon(1e-5).upper, asked, 0.001);
    const std::string reason = refusal(account, entry(2, PrivacyLoss::gaussian(gdp_mu(9, 1e-5))));
    EXPECT_NE(reason.find("ask for at most epsilon 7.12 at this delta"), std::string::npos)
        << reason;
    EXPECT_EQ(refusal(account, entry(2, PrivacyLoss::gaussian(gdp_mu(asked, 1e-5)))), "");
    // A pure loss beside the Gaussian one.
    const PrivacyLoss pure = account.largest_left(PrivacyLoss(), PrivacyLoss::pure(1));
    EXPECT_NEAR(pure.epsilon(1e-5).upper, 10, 1e-9);
}

TEST(BudgetAccount, RefusesARunWithoutNoise) {
    BudgetAccount account(ten);
    for (const PrivacyLoss& loss :
         {PrivacyLoss::gaussian(infinity), PrivacyLoss::gaussian(1e150), PrivacyLoss::pure(1e13)})
        EXPECT_NE(refusal(account, entry(1, loss)).find("adds no noise"), std::string::npos);
    EXPECT_TRUE(account.entries().empty());
}

TEST(BudgetAccount, CountsARunThatIsTakenUpAgainOnce) {
    BudgetAccount account(ten);
    account.reserve(entry(1, PrivacyLoss::gaussian(1), 100));
    account.reserve(entry(1, PrivacyLoss::gaussian(1), 100));
    EXPECT_NEAR(account.spent().mu().value(), 1, 1e-15);
    // More rounds than were reserved: the difference is deducted.
    account.reserve(entry(1, PrivacyLoss::gaussian(1.5), 150));
    EXPECT_NEAR(account.spent().mu().value(), 1.5, 1e-15);
    EXPECT_EQ(account.entries().front().rounds, 150);
    // Less is no refund: what was reserved may have left.
    account.reserve(entry(1, PrivacyLoss::gaussian(0.5), 50));
    EXPECT_NEAR(account.spent().mu().value(), 1.5, 1e-15);
}

/// Of run 1, with a phase for each list of sessions, and the loss of each.
struct Asked {
    AccountEntry entry;
    std::vector<PrivacyLoss> losses;
};
Asked asked(const std::vector<std::pair<std::vector<std::uint8_t>, long>>& phases,
            const std::vector<double>& mus) {
    double squared = 0;
    Asked result{entry(1, PrivacyLoss::gaussian(0)), {}};
    for (std::size_t k = 0; k < phases.size(); ++k) {
        AccountPhase& phase = result.entry.phases.emplace_back();
        for (const std::uint8_t session : phases[k].first)
            phase.sessions.push_back(run_id(session));
        phase.rounds = phases[k].second;
        result.losses.push_back(PrivacyLoss::gaussian(mus[k]));
        squared += mus[k] * mus[k];
    }
    result.entry.loss = PrivacyLoss::gaussian(std::sqrt(squared));
    return result;
}
void reserve(BudgetAccount& account, const Asked& one) { account.reserve(one.entry, one.losses); }

TEST(BudgetAccount, CountsWhatContinuationsHaveInCommonOnceAndTheRestEachTime) {
    BudgetAccount account(ten);
    reserve(account, asked({{{1}, 100}}, {1}));
    // Taken up after 30 rounds: within what was deducted.
    reserve(account, asked({{{1}, 30}, {{2}, 70}}, {0.6, 0.8}));
    EXPECT_EQ(account.entries().size(), 1U);
    EXPECT_NEAR(account.spent().mu().value(), 1, 1e-12);
    // A copy of the directory, resumed too: its own rounds beside the others'.
    const Asked copy = asked({{{1}, 30}, {{3}, 70}}, {0.6, 0.8});
    reserve(account, copy);
    ASSERT_EQ(account.entries().size(), 2U);
    EXPECT_FALSE(account.entries()[1].phases[0].counted);
    EXPECT_NEAR(account.spent().mu().value(), std::sqrt(1 + 0.64), 1e-12);
    account.settle(copy.entry, copy.losses);
    EXPECT_NEAR(account.spent().mu().value(), std::sqrt(1 + 0.64), 1e-12);
    // Each goes on with its own entry.
    reserve(account, asked({{{1}, 30}, {{3}, 20}, {{4}, 50}}, {0.6, 0.4, 0.9}));
    EXPECT_EQ(account.entries().size(), 2U);
    EXPECT_NEAR(account.spent().mu().value(), std::sqrt(1 + 0.16 + 0.81), 1e-12);
    // A copy that had sent more of the first phase than is counted for it: all of it counts.
    reserve(account, asked({{{1}, 40}, {{5}, 60}}, {0.7, 0.8}));
    EXPECT_NEAR(account.spent().mu().value(), std::sqrt(1 + 0.16 + 0.81 + 0.49 + 0.64), 1e-12);
    EXPECT_EQ(account.spent_by_others(run_id(1), {}), account.spent());
}

TEST(BudgetAccount, RefusesAContinuationThatIsTooMuchAndKeysThatWentOnElsewhere) {
    BudgetAccount account({gdp_epsilon(1.1, 1e-5), 1e-5, Adjacency::agent});
    reserve(account, asked({{{1}, 30}, {{2}, 70}}, {0.6, 0.8}));
    const Asked copy = asked({{{1}, 30}, {{3}, 70}}, {0.6, 0.8});
    EXPECT_THROW(reserve(account, copy), PrivacyError);
    EXPECT_EQ(account.entries().size(), 1U);
    BudgetAccount stopped(ten);
    reserve(stopped, asked({{{1}, 100}}, {0.5}));
    reserve(stopped, asked({{{1, 2}, 100}}, {0.5}));
    EXPECT_EQ(stopped.entries().size(), 1U);
    EXPECT_NEAR(stopped.spent().mu().value(), 0.5, 1e-12);
    try {
        reserve(stopped, asked({{{1, 3}, 100}}, {0.5}));
        ADD_FAILURE() << "the same keys twice";
    } catch (const PrivacyError& error) {
        EXPECT_NE(std::string(error.what()).find("with the same noise keys"), std::string::npos);
    }
}

TEST(BudgetAccount, GivesBackWhatACleanEndDidNotSendAndNoMore) {
    BudgetAccount account(ten);
    account.reserve(entry(1, PrivacyLoss::gaussian(1), 100));
    account.settle(entry(1, PrivacyLoss::gaussian(0.5), 25));
    EXPECT_NEAR(account.spent().mu().value(), 0.5, 1e-15);
    EXPECT_TRUE(account.entries().front().settled);
    EXPECT_EQ(account.entries().front().rounds, 25);
    // Taken up again, then stopped by somebody who says that less had left.
    account.reserve(entry(1, PrivacyLoss::gaussian(1), 100));
    EXPECT_FALSE(account.entries().front().settled);
    account.settle(entry(1, PrivacyLoss::gaussian(0.1), 10));
    EXPECT_NEAR(account.spent().mu().value(), 0.5, 1e-15);
    account.settle(entry(9, PrivacyLoss::gaussian(3), 10));
    EXPECT_NEAR(account.spent().mu().value(), 0.5, 1e-15);
}

TEST(BudgetAccount, TakesOnlyLimitsAndEntriesThatCanBe) {
    for (const AccountLimit& wrong : {AccountLimit{0, 1e-5, {}},
                                      AccountLimit{infinity, 1e-5, {}},
                                      AccountLimit{not_a_number, 1e-5, {}},
                                      AccountLimit{1e7, 1e-5, {}},
                                      AccountLimit{1, 1e-31, {}},
                                      AccountLimit{1, 1, {}},
                                      AccountLimit{1, -0.1, {}},
                                      AccountLimit{1, not_a_number, {}}})
        EXPECT_THROW(BudgetAccount{wrong}, ConfigError) << wrong.epsilon << " " << wrong.delta;
    AccountEntry more_left = entry(1, PrivacyLoss::gaussian(1));
    more_left.left = PrivacyLoss::gaussian(2);
    EXPECT_THROW(BudgetAccount(ten, {more_left}), DataError);
    for (const double mu : {infinity, 1e150, 2e6})
        EXPECT_THROW(BudgetAccount(ten, {entry(1, PrivacyLoss::gaussian(mu))}), DataError) << mu;
    const AccountEntry once = entry(1, PrivacyLoss::gaussian(1));
    EXPECT_THROW(BudgetAccount(ten, {once, once}), DataError);
    EXPECT_THROW(
        BudgetAccount(ten, std::vector<AccountEntry>(BudgetAccount::most_entries + 1, once)),
        DataError);
    EXPECT_THROW(BudgetAccount(ten, {entry(1, PrivacyLoss::gaussian(1), -1)}), DataError);
}

TEST(BudgetAccount, HasADigestOfEverythingInIt) {
    const auto with = [](const AccountEntry& one) { return BudgetAccount(ten, {one}); };
    const AccountEntry plain = entry(1, PrivacyLoss::gaussian(1));
    const Digest before = with(plain).digest({}, 3);
    std::vector<AccountEntry> changed(6, plain);
    changed[0].run = run_id(2);
    changed[1].time = "2027";
    changed[2].mechanism = "corn";
    changed[3].rounds = 101;
    changed[4].loss = PrivacyLoss::pure(1);
    changed[5].settled = true;
    for (const AccountEntry& one : changed) EXPECT_NE(with(one).digest({}, 3), before);
    EXPECT_NE(with(plain).digest({}, 4), before);
    EXPECT_NE(with(plain).digest(run_id(7), 3), before);
    EXPECT_NE(BudgetAccount({11, 1e-5, Adjacency::agent}, {plain}).digest({}, 3), before);
    EXPECT_NE(BudgetAccount({10, 1e-6, Adjacency::agent}, {plain}).digest({}, 3), before);
    EXPECT_NE(BudgetAccount({10, 1e-5, Adjacency::record}, {plain}).digest({}, 3), before);
    EXPECT_NE(BudgetAccount({10, 1e-5, Adjacency::agent, "patient"}, {plain}).digest({}, 3),
              before);
    EXPECT_EQ(with(plain).digest({}, 3), before);
}

TEST(BudgetAccount, CountsSampledRoundsBesideOtherRuns) {
    const SampledRounds rounds{1, 0.01, 1000};
    const PrivacyLoss sampled = PrivacyLoss::sampled({&rounds, 1});
    BudgetAccount account(ten);
    account.reserve(entry(1, sampled));
    account.reserve(entry(2, PrivacyLoss::gaussian(1)));
    const PrivacyLoss both = compose(sampled, PrivacyLoss::gaussian(1));
    EXPECT_EQ(account.spent(), both);
    EXPECT_EQ(account.epsilon_spent(), both.epsilon(1e-5).upper);
    const PrivacyLoss left = account.largest_left(account.spent(), sampled);
    EXPECT_NEAR(compose(both, left).epsilon(1e-5).upper, 10, 1e-2);
    EXPECT_LE(compose(both, left).epsilon(1e-5).upper, 10);
    const SampledRounds much{0.5, 0.1, 1000};
    EXPECT_NE(refusal(account, entry(3, PrivacyLoss::sampled({&much, 1}))).find("ask for at most"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
