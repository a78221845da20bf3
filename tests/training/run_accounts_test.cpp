#include "training/run_accounts.hpp"

#include "account/composed_runs.hpp"
#include "store/recorded_ledger.hpp"
#include "training/resume_fixtures.hpp"
#include "training/training_fixtures.hpp"

namespace sotto::test {
namespace {

using test::expect_contains;

/// Runs of six agents that share one account, or have one each.
class RunAccounts : public ResumableRun {
  protected:
    TrainConfig with_account(const std::string& name, const std::string& account) const {
        TrainConfig result = config(name, "ldp");
        result.plan.epsilon = 3;
        result.budget_account = folder.path(account);
        return result;
    }
    void open(const std::string& name, double epsilon, const Identity* owner = nullptr) const {
        BudgetAccountFile::create(folder.path(name), {epsilon, 1e-5, Adjacency::agent}, owner);
    }
    BudgetAccount account(const std::string& name) const {
        return BudgetAccountFile::look(folder.path(name)).account;
    }
    std::string refusal(const TrainConfig& asked) const {
        return message_of<PrivacyError>([&] { (void)run(asked); });
    }
};

TEST_F(RunAccounts, AreChargedWithEveryRunUntilOneMoreWouldBeTooMuch) {
    open("mine", 5);
    const TrainResult first = run(with_account("a", "mine"));
    ASSERT_TRUE(first.account);
    EXPECT_EQ(first.account->before, 0);
    EXPECT_NEAR(first.account->after, 3, 1e-6);
    const TrainResult second = run(with_account("b", "mine"));
    EXPECT_NEAR(second.account->before, 3, 1e-6);
    EXPECT_NEAR(second.account->after,
                PrivacyLoss::gaussian(std::sqrt(2) * first.mu).epsilon(1e-5).upper,
                1e-6);
    const std::string reason = refusal(with_account("c", "mine"));
    expect_contains(reason,
                    "agents 0,1,2,3,4,5: budget account " + folder.path("mine") + ": epsilon 4.4");
    expect_contains(reason, "is spent by 2 other runs, this one asks for 3");
    EXPECT_FALSE(fs::exists(path("c")));
    EXPECT_EQ(account("mine").entries().size(), 2U);
    for (const AccountEntry& entry : account("mine").entries()) EXPECT_TRUE(entry.settled);
}

TEST_F(RunAccounts, ThatAreSharedCountTheAgentThatLosesMost) {
    open("mine", 50);
    TrainConfig asked = with_account("a", "mine");
    asked.plan.budgets_file = folder.write("budgets", "1\n2\n7\n3\n4\n5\n");
    (void)run(asked);
    EXPECT_NEAR(account("mine").epsilon_spent(), 7, 1e-6);
}

TEST_F(RunAccounts, OfOneAgentEachCountWhatThatAgentLoses) {
    for (int u = 0; u < agents; ++u) open("account" + std::to_string(u), u == 4 ? 3.5 : 50);
    TrainConfig asked = with_account("a", "account%r");
    asked.plan.budgets_file = folder.write("budgets", "1\n2\n7\n3\n3.4\n5\n");
    const TrainResult result = run(asked);
    EXPECT_NEAR(account("account2").epsilon_spent(), 7, 1e-6);
    EXPECT_NEAR(account("account0").epsilon_spent(), 1, 1e-6);
    // What is said is about the one with the least left.
    EXPECT_EQ(result.account->path, folder.path("account4"));
    asked.run_directory = path("b");
    expect_contains(refusal(asked), "agent 4: budget account ");
    // Nobody else has been charged.
    EXPECT_EQ(account("account0").entries().size(), 1U);
    EXPECT_EQ(account("account5").entries().size(), 1U);
}

TEST_F(RunAccounts, GetBackWhatAStoppedRunDidNotSendAndPayOnceForOneThatGoesOn) {
    open("mine", 5);
    const TrainConfig asked = with_account("a", "mine");
    const TrainResult stopped = run_until_stopped(asked, 10);
    const double left = account("mine").epsilon_spent();
    EXPECT_NEAR(left, stopped.epsilon, 1e-9);
    EXPECT_LT(left, 2.5);
    const TrainResult done = run(resumed(asked, path("a")));
    EXPECT_EQ(done.account->before, 0);
    EXPECT_NEAR(account("mine").epsilon_spent(), done.epsilon, 1e-9);
    ASSERT_EQ(account("mine").entries().size(), 1U);
    EXPECT_TRUE(account("mine").entries().front().settled);
    EXPECT_EQ(account("mine").entries().front().rounds, rounds);
}

TEST_F(RunAccounts, KeepTheWholeRunDeductedWhenItFails) {
    open("mine", 5);
    run_until_killed(with_account("a", "mine"), 5);
    EXPECT_NEAR(account("mine").epsilon_spent(), 3, 1e-6);
    EXPECT_FALSE(account("mine").entries().front().settled);
}

TEST_F(RunAccounts, PayForEveryContinuationOfCopiesOfOneRun) {
    TrainConfig first = with_account("k", "mine");
    first.plan.epsilon = 2;
    first.checkpoint_every = 10;
    for (const double allowed : {2.2, 5.0}) {
        fs::remove_all(path("k"));
        fs::remove_all(path("k2"));
        for (const char* file : {"mine", "mine.serial"}) fs::remove(path(file));
        open("mine", allowed);
        run_until_killed(first, 15);
        fs::copy(path("k"), path("k2"), fs::copy_options::recursive);
        (void)run(resumed(first, path("k")));
        EXPECT_NEAR(account("mine").epsilon_spent(), 2, 1e-6);
        const TrainConfig other = resumed(first, path("k2"));
        if (allowed == 2.2) {
            expect_contains(refusal(other), "this one asks for");
            continue;
        }
        (void)run(other);
        // The first 15 rounds once, and what came of each.
        const RecordedLedger one = read_recorded_ledger(path("k")),
                             two = read_recorded_ledger(path("k2"));
        double squared = 0;
        for (const PrivacyLoss& loss :
             {one.phases[0].losses[0], one.phases[1].losses[0], two.phases[1].losses[0]})
            squared += loss.amount().value;
        const double together = PrivacyLoss::gaussian(std::sqrt(squared)).epsilon(1e-5).upper;
        EXPECT_GT(together, 2.5);
        EXPECT_NEAR(account("mine").epsilon_spent(), together, 1e-6);
        const ComposedRuns both =
            compose_runs_in({path("k"), path("k2")}, std::nullopt, std::nullopt);
        EXPECT_NEAR(both.worst().epsilon, together, 1e-6);
        EXPECT_EQ(both.runs.size(), 2U);
    }
}

TEST_F(RunAccounts, RefuseKeysWithWhichAnotherCopyWentOn) {
    open("mine", 50);
    TrainConfig first = with_account("k", "mine");
    give_identities(first);
    fs::remove(path("mine"));
    fs::remove(path("mine.serial"));
    for (int u = 0; u < agents; ++u) {
        const Identity owner = Identity::read(folder.path("id" + std::to_string(u)));
        open("mine" + std::to_string(u), 50, &owner);
    }
    first.budget_account = folder.path("mine%r");
    (void)run_until_stopped(first, 15);
    fs::copy(path("k"), path("k2"), fs::copy_options::recursive);
    EXPECT_TRUE(run(resumed(first, path("k"))).resumed->same_keys);
    expect_contains(refusal(resumed(first, path("k2"))), "with the same noise keys");
}

TEST_F(RunAccounts, OweNothingForARunThatCouldNotBegin) {
    open("mine", 5);
    TrainConfig asked = with_account("a", "mine");
    (void)run(asked);
    // Its directory holds a run already.
    EXPECT_THROW((void)run(asked), ConfigError);
    EXPECT_EQ(account("mine").entries().size(), 1U);
}

TEST_F(RunAccounts, AreAskedInADryRunAndNotCharged) {
    open("mine", 5);
    open("small", 2);
    TrainConfig asked = with_account("a", "mine");
    asked.dry_run = true;
    (void)run(asked);
    EXPECT_TRUE(account("mine").entries().empty());
    asked.budget_account = folder.path("small");
    expect_contains(refusal(asked), "epsilon 0 of 2");
}

TEST_F(RunAccounts, AllowNeitherRunsWithoutNoiseNorOfAnotherAdjacency) {
    open("mine", 5);
    TrainConfig bare = config("a", "none");
    bare.budget_account = folder.path("mine");
    expect_contains(refusal(bare), "this run adds no noise");
    TrainConfig other = with_account("a", "mine");
    other.plan.adjacency = Adjacency::record;
    expect_contains(refusal(other), "with --adjacency agent, and this run is planned with record");
}

TEST_F(RunAccounts, AreSignedByTheIdentitiesOfTheirAgents) {
    TrainConfig asked = with_account("a", "account%r");
    give_identities(asked);
    for (int u = 0; u < agents; ++u) {
        const Identity own = Identity::read(folder.path("id" + std::to_string(u)));
        open("account" + std::to_string(u), 5, &own);
    }
    EXPECT_TRUE(run(asked).account->is_signed);
    EXPECT_TRUE(BudgetAccountFile::look(folder.path("account3")).owner.has_value());
    asked.run_directory = path("b");
    asked.budget_account = folder.path("account0");
    expect_contains(message_of<ConfigError>([&] { (void)run(asked); }), "use %r");
    asked.trust.reset();
    expect_contains(message_of<DataError>([&] { (void)run(asked); }), "give --identity");
}

TEST_F(RunAccounts, CountLaplaceNoiseAsPure) {
    open("mine", 5);
    TrainConfig asked = config("a", "laplace");
    asked.plan.epsilon = 2;
    asked.budget_account = folder.path("mine");
    (void)run(asked);
    EXPECT_NEAR(account("mine").spent().parameter().value, 2, 1e-6);
    EXPECT_EQ(account("mine").spent().parameter().name, "epsilon");
}

}  // namespace
}  // namespace sotto::test

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(SealLedger, LeavesALedgerThatManifestAndAllAgentsName) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "decor", 10);
    config.run_directory = folder.path("run");
    const fs::path run = *config.run_directory;
    const auto network = make_memory_network(4, 1);
    const OpenRun open = open_run(test::prepare(config, *network));
    const std::string running = ledger_digest(read_sealed_ledger(run));
    write_open_ledger(open, Ledger::Status::failed, 3);
    EXPECT_EQ(test::read_json(run / "ledger.json")["status"], "failed");
    EXPECT_EQ(ledger_digest(read_sealed_ledger(run)), running);
    seal_ledger(open, Ledger::Status::interrupted, 7);
    const std::string ended = ledger_digest(read_sealed_ledger(run));
    EXPECT_NE(ended, running);
    for (int agent = 0; agent < 4; ++agent)
        EXPECT_EQ(read_ledger_digests(ledger_digest_file(run, agent)), std::vector{ended});
    EXPECT_EQ(test::read_json(run / "manifest.json")["ledger_blake2b"], test::Json{ended});
}

}  // namespace
}  // namespace sotto
