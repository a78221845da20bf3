#include "training/resume.hpp"

#include <fmt/format.h>

#include <cmath>

#include "agent/recording/recorded_view.hpp"
#include "options/train_options.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "store/run_history.hpp"
#include "training/resume_fixtures.hpp"
#include "trust/identity.hpp"

namespace sotto {
namespace {

using test::agents;
using test::config_of;
using test::expect_contains;
using test::Fate;
using test::Json;
using test::message_of;
using test::models_of;
using test::random_topography;
using test::read_json;
using test::resumed;
using test::rounds;
using test::run;
using test::run_until_killed;
using test::run_until_stopped;

namespace fs = std::filesystem;

class Resume : public test::ResumableRun {};

class CleanStop : public Resume, public ::testing::WithParamInterface<const char*> {};

TEST_P(CleanStop, GoesOnBitForBit) {
    const std::string mechanism = GetParam();
    const auto configured = [&](const std::string& name) {
        TrainConfig result = config(name, mechanism);
        if (mechanism == "mafalda" || mechanism == "space-time") {
            result.plan.adjacency = Adjacency::record;
            result.plan.participation = {5};
        }
        if (mechanism == "muffliato") result.plan.gossip_steps = 3;
        result.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
        return result;
    };
    (void)run(configured("whole"));
    const TrainResult stopped = run_until_stopped(configured("parts"), 23);
    const TrainResult rest = run(resumed(configured("ignored"), path("parts")));
    ASSERT_TRUE(rest.resumed);
    EXPECT_TRUE(rest.resumed->same_keys);
    EXPECT_EQ(rest.resumed->round, stopped.rounds);
    EXPECT_EQ(rest.rounds, rounds);
    EXPECT_EQ(models_of(path("parts")), models_of(path("whole")));
    // And has revealed no more.
    EXPECT_EQ(ledger("parts").at("headline"), ledger("whole").at("headline"));
    EXPECT_EQ(ledger("parts").at("rounds"), ledger("whole").at("rounds"));
    EXPECT_EQ(ledger("parts").at("phases").size(), 1U);
}

TEST_F(Resume, GoesOnWithPushSumsWeights) {
    const auto configured = [&](const std::string& name, const std::string& schedule) {
        TrainConfig result = config(name, "decor");
        result.graph.topology.directed = true;
        result.graph.mixing = "push-sum";
        result.graph.mixing_schedule = schedule;
        result.plan.gossip_steps = 2;
        result.plan.final_gossip = 0;
        return result;
    };
    for (const std::string schedule : {"fixed", "random"}) {
        const TrainResult whole = run(configured("whole" + schedule, schedule));
        (void)run_until_stopped(configured("parts" + schedule, schedule), 23);
        const TrainResult rest =
            run(resumed(configured("ignored", schedule), path("parts" + schedule)));
        EXPECT_EQ(models_of(path("parts" + schedule)), models_of(path("whole" + schedule)));
        EXPECT_EQ(rest.evaluation.test_loss, whole.evaluation.test_loss) << schedule;
    }
}

TEST_F(Resume, IsWithoutNobodyWithPushSum) {
    TrainConfig first = config("run", "ldp");
    first.graph.topology.directed = true;
    first.graph.mixing = "push-sum";
    (void)run_until_stopped(first, 20);
    expect_contains(
        message_of<ConfigError>([&] { (void)run(resumed(first, path("run"), {2}), 5); }),
        "--without: not possible with --mixing push-sum");
}

TEST_F(Resume, KeepsVelocitiesAndMeansOfModels) {
    for (const ModelAverage::Kind kind :
         {ModelAverage::Kind::tail, ModelAverage::Kind::exponential})
        for (const long stop : {12L, 41L}) {  // before and in the tail of 60 rounds
            const std::string name = name_of(ModelAverage{kind, 0.6}) + std::to_string(stop);
            const auto configured = [&](const std::string& directory) {
                TrainConfig result = config(directory, "pairs");
                result.plan.momentum = 0.7;
                result.plan.average = {kind, 0.6};
                result.plan.gossip = GossipRule::chebyshev;
                result.plan.gossip_steps = 2;
                result.plan.final_gossip.reset();
                return result;
            };
            const TrainResult whole = run(configured("whole" + name));
            (void)run_until_stopped(configured("parts" + name), stop);
            const TrainResult rest = run(resumed(configured("ignored"), path("parts" + name)));
            EXPECT_TRUE(rest.resumed->same_keys) << name;
            EXPECT_EQ(models_of(path("parts" + name)), models_of(path("whole" + name))) << name;
            EXPECT_EQ(rest.evaluation.test_loss, whole.evaluation.test_loss) << name;
            EXPECT_EQ(rest.last.test_loss, whole.last.test_loss) << name;
            EXPECT_NE(whole.last.test_loss, whole.averaged.test_loss) << name;
            EXPECT_NE(whole.averaged.test_loss, whole.evaluation.test_loss) << name;
        }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms,
                         CleanStop,
                         ::testing::Values("pairs",
                                           "ldp",
                                           "corn",
                                           "anti-pgd",
                                           "mafalda",
                                           "space-time",
                                           "muffliato",
                                           "zip-dl",
                                           "homomorphic",
                                           "none"),
                         [](const auto& instance) {
                             std::string name = instance.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST_F(Resume, TakesSeedsFromTheCheckpointOfAnIdentity) {
    TrainConfig first = config("run", "mafalda");
    first.plan.adjacency = Adjacency::record;
    first.plan.participation = {5};
    give_identities(first);
    (void)run_until_stopped(first, 20);
    fs::copy(path("run"), path("copy"), fs::copy_options::recursive);
    for (const char* name : {"run", "copy"}) {
        const TrainResult rest = run(resumed(first, path(name)));
        EXPECT_TRUE(rest.resumed->same_keys);
    }
    // The same noise twice: only the seeds in the checkpoint say it.
    EXPECT_EQ(models_of(path("run")), models_of(path("copy")));
}

/// All sealed seeds in a run directory.
std::vector<fs::path> saved_seeds_in(const fs::path& directory) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
        if (entry.path().extension() == ".seeds") found.push_back(entry.path());
    return found;
}

TEST_F(Resume, ErasesSavedSeedsBeforeItSendsAnything) {
    TrainConfig first = config("run");
    give_identities(first);
    const TrainResult stopped = run_until_stopped(first, 20);
    EXPECT_EQ(saved_seeds_in(path("run")).size(), static_cast<std::size_t>(test::agents));
    // What only looks does not use them up.
    TrainConfig look = resumed(first, path("run"));
    look.dry_run = true;
    EXPECT_TRUE(run(look).resumed->same_keys);
    EXPECT_EQ(saved_seeds_in(path("run")).size(), static_cast<std::size_t>(test::agents));
    run_until_killed(resumed(first, path("run")), stopped.rounds + 1);
    EXPECT_EQ(saved_seeds_in(path("run")), std::vector<fs::path>{});
    // The checkpoint is whole without them.
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_FALSE(rest.resumed->same_keys);
    EXPECT_EQ(rest.resumed->round, stopped.rounds);
}

TEST_F(Resume, ErasesSavedSeedsThatItHasNoUseFor) {
    TrainConfig first = config("run");
    give_identities(first);
    for (const bool leaving : {false, true}) {
        const std::string name = leaving ? "left" : "run";
        first.run_directory = path(name);
        const TrainResult stopped = run_until_stopped(first, 20);
        TrainConfig next = resumed(first, path(name));
        // Without identities, or without an agent, new keys are drawn.
        if (leaving) {
            next.resume->without = {test::agents - 1};
            fs::rename(path("roster"), path("roster-of-all"));
            std::ofstream shorter(path("roster"));
            std::istringstream all(read_file(path("roster-of-all")));
            long kept = 0;
            for (std::string line; std::getline(all, line);)
                if (line.empty() || line.front() == '#' || ++kept < test::agents)
                    shorter << line << "\n";
        } else {
            next.trust.reset();
            next.resume->given = {"roster", "identity"};
        }
        run_until_killed(next, stopped.rounds + 1, leaving ? test::agents - 1 : test::agents);
        EXPECT_EQ(saved_seeds_in(path(name)), std::vector<fs::path>{}) << name;
    }
}

TEST_F(Resume, SendsNothingWhereSavedSeedsCannotBeErased) {
    const TrainConfig first = config("run");
    const TrainResult stopped = run_until_stopped(first, 20);
    const fs::path stuck =
        fs::path(path("run")) / fmt::format("checkpoints/{:012}/agent-1.seeds", stopped.rounds);
    fs::create_directories(stuck / "full");
    Fate fate;
    expect_contains(message_of<ConfigError>([&] { (void)run(resumed(first, path("run")), fate); }),
                    stuck.string() + ": cannot be removed");
    EXPECT_EQ(fate.completed, 0);
    // What was planned to be sent counts, and the old keys are gone.
    fs::remove_all(stuck);
    EXPECT_FALSE(run(resumed(first, path("run"))).resumed->same_keys);
}

TEST_F(Resume, LeavesNoSavedSeedsBehindWhenTheRunIsComplete) {
    TrainConfig first = config("run");
    give_identities(first);
    (void)run_until_stopped(first, 20);
    const auto seeds = saved_seeds_in(path("run"));
    ASSERT_FALSE(seeds.empty());
    const std::string kept = read_file(seeds.front());
    // A copy that somebody put back while the run went on, and what a process that was killed had
    // begun to write.
    const fs::path begun = seeds.front().string() + ".part.1";
    Fate fate;
    fate.on_evaluations = [&] {
        write_file_atomically(seeds.front(), kept);
        write_file_atomically(begun, kept);
    };
    const TrainResult rest = run(resumed(first, path("run")), fate);
    EXPECT_TRUE(rest.resumed->same_keys);
    EXPECT_FALSE(fs::exists(begun));
    EXPECT_EQ(saved_seeds_in(path("run")), std::vector<fs::path>{});
}

TEST_F(Resume, DrawsNewKeysWhereSavedSeedsAreGoneOrChanged) {
    TrainConfig first = config("run");
    give_identities(first);
    for (const bool gone : {true, false}) {
        first.run_directory = path(gone ? "gone" : "changed");
        (void)run_until_stopped(first, 20);
        const fs::path file = saved_seeds_in(*first.run_directory).front();
        std::string bytes = read_file(file);
        bytes.back() ^= 1;
        gone ? erase_file(file) : write_file_atomically(file, bytes);
        const TrainResult rest = run(resumed(first, *first.run_directory));
        EXPECT_FALSE(rest.resumed->same_keys);
        EXPECT_EQ(rest.resumed->key_epoch, 1U);
        EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    }
}

TEST_F(Resume, DrawsNewKeysWithoutAnIdentity) {
    TrainConfig first = config("run");
    first.noise_seed.reset();
    (void)run_until_stopped(first, 20);
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_FALSE(rest.resumed->same_keys);
    EXPECT_EQ(rest.resumed->key_epoch, 1U);
    EXPECT_EQ(rest.resumed->repeated, 0);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    EXPECT_EQ(ledger("run").at("rounds").at("accounted"), rounds);
}

TEST_F(Resume, KeepsNoSeedThatAnotherIdentityOpens) {
    TrainConfig first = config("run");
    give_identities(first);
    (void)run_until_stopped(first, 20);
    // Two agents swap who they are: their own seeds do not open.
    fs::rename(path("id0"), path("id"));
    fs::rename(path("id1"), path("id0"));
    fs::rename(path("id"), path("id1"));
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_FALSE(rest.resumed->same_keys);
    EXPECT_EQ(rest.resumed->key_epoch, 1U);
}

TEST_F(Resume, UsesTheKeysOfACleanStopOnce) {
    const TrainConfig first = config("run");
    const TrainResult stopped = run_until_stopped(first, 20);
    run_until_killed(resumed(first, path("run")), stopped.rounds + 3);
    // What was sent after the checkpoint counts, and nothing is sent with its keys again.
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_FALSE(rest.resumed->same_keys);
    EXPECT_EQ(rest.resumed->key_epoch, 1U);
    EXPECT_EQ(rest.resumed->round, stopped.rounds);
    EXPECT_EQ(rest.resumed->repeated, 3);
    EXPECT_EQ(ledger("run").at("rounds").at("accounted"), rounds + rest.resumed->repeated);
}

TEST_F(Resume, SurvivesFailureAfterFailure) {
    TrainConfig first = config("run", "corn");
    first.checkpoint_every = 8;
    run_until_killed(first, 19);
    long repeated = 0;
    for (const long die : {18L, 29L, 47L, 47L}) run_until_killed(resumed(first, path("run")), die);
    const TrainResult rest = run(resumed(first, path("run")));
    for (const PrivacyPhase& phase : read_history(path("run")).phases) repeated += phase.rounds;
    EXPECT_EQ(rest.resumed->key_epoch, 5U);
    EXPECT_EQ(ledger("run").at("rounds").at("accounted"), repeated);
    EXPECT_GT(repeated, rounds);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    // One row a round, in order.
    const std::string metrics = read_file(fs::path(folder.path("run")) / "metrics.csv");
    long before = -1;
    std::istringstream lines(metrics);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        EXPECT_GT(std::stol(line), before);
        before = std::stol(line);
    }
    EXPECT_EQ(before, rounds);
}

TEST_F(Resume, RefusesRunsThatCannotGoOn) {
    TrainConfig first = config("run");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("nowhere"))); }),
                    "history.json");
    (void)run(first);
    try {
        (void)run(resumed(first, path("run")));
        ADD_FAILURE() << "it was resumed";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_code(), ExitCode::complete);
        expect_contains(error.what(), "is complete");
    }
    TrainConfig lost = config("lost");
    run_until_killed(lost, 20);
    fs::remove_all(fs::path(path("lost")) / "checkpoints");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(lost, path("lost"))); }),
                    "no whole checkpoint");
    TrainConfig other = config("other");
    (void)run_until_stopped(other, 20);
    TrainConfig with_less = resumed(other, path("other"));
    with_less.task.data = folder.write("less.txt", test::records_with_own_feature(90));
    expect_contains(message_of<NetworkError>([&] { (void)run(with_less); }), "--data");
    with_less.resume->given = {"data"};
    (void)message_of<DataError>([&] { (void)run(with_less); });
}

TEST_F(Resume, OfARunKilledBeforeItsFirstCheckpointBeginsAgainAtRound0) {
    TrainConfig killed = config("killed", "ldp");
    killed.noise_seed.reset();
    run_until_killed(killed, 3);
    const TrainResult result = run(resumed(killed, path("killed")));
    ASSERT_TRUE(result.resumed.has_value());
    EXPECT_EQ(result.resumed->round, 0);
    EXPECT_EQ(result.resumed->repeated, 3);
    EXPECT_FALSE(result.resumed->same_keys);
    EXPECT_EQ(result.rounds, rounds);
    const test::Json phases = ledger("killed")["phases"];
    ASSERT_EQ(phases.size(), 2U);
    EXPECT_EQ(phases[0]["rounds"], 3);
    EXPECT_EQ(phases[1]["rounds"], rounds);
    EXPECT_NEAR(ledger("killed")["headline"]["epsilon"].get<double>(), 10, 1e-4);
}

/// Whether the run goes on with these data; "" if it does.
class ResumeWithData : public test::ResumableRun {
  protected:
    std::string refusal(TrainConfig first, const std::string& option, const std::string& file) {
        TrainConfig second = resumed(first, *first.run_directory);
        (option == "data" ? second.task.data : second.task.test_data.emplace()) = file;
        second.resume->given = {option};
        try {
            (void)run(second);
        } catch (const DataError& error) {
            return error.what();
        }
        return {};
    }
    /// The file's lines, moved on by one.
    std::string shuffled(const std::string& file) {
        const std::string text = read_file(file);
        const std::size_t first = text.find('\n') + 1;
        return folder.write("shuffled.txt", text.substr(first) + text.substr(0, first));
    }
};

TEST_F(ResumeWithData, ThatAreOthersIsRefusedByTheAgentsOwnCheckpoint) {
    TrainConfig first = config("run");
    first.task.partition = PartitionSpec{PartitionSpec::Kind::iid};  // of as many records
    run_until_killed(first, 4);
    expect_contains(refusal(first, "data", shuffled(first.task.data)),
                    "agent 0: its files hold other records than when the run began");
    // The same records elsewhere are the same.
    const std::string copy = folder.write("copy.txt", read_file(first.task.data));
    EXPECT_EQ(refusal(first, "data", copy), "");
}

TEST_F(ResumeWithData, OfAnAgentsOwnIsRefusedToo) {
    TrainConfig first = config("run");
    const std::string text = read_file(first.task.data);
    for (int u = 0; u < test::agents; ++u) (void)folder.write("own-" + std::to_string(u), text);
    first.task.data = folder.path("own-%r");
    run_until_killed(first, 4);
    fs::copy_file(
        shuffled(folder.path("own-4")), folder.path("own-4"), fs::copy_options::overwrite_existing);
    expect_contains(refusal(first, "data", first.task.data), "agent 4: its files hold other");
    (void)folder.write("own-4", text);
    EXPECT_EQ(refusal(first, "data", first.task.data), "");
    // Each agent's record is its own.
    EXPECT_FALSE(fs::exists(folder.path("run/data.json")));
    EXPECT_EQ(test::read_json(folder.path("run/agents/4/data.json"))["files"].size(), 1U);
    EXPECT_TRUE(test::read_json(folder.path("run/manifest.json"))["data"]["commitment"].is_null());
}

TEST(ResumptionText, SaysHowTheRunGoesOn) {
    EXPECT_EQ(resumption_text({20, 0, 0, true, false, {}}, {}),
              "resumed    after 20 rounds, with the same keys\n");
    const std::string text = resumption_text({20, 1, 2, false, false, {3}}, {"a note"});
    expect_contains(text, "with new keys (epoch 2)");
    expect_contains(text, "1 round before the failure");
    expect_contains(text, "without agent 3\n");
    expect_contains(text, "a note\n");
    expect_contains(resumption_text({20, 2, 2, false, false, {3, 4}}, {}), "without agents 3, 4\n");
}

class OwnOptions : public ::testing::Test {
  protected:
    OwnOptions() {
        config_.plan.epsilon = 3;
        config_.resume.emplace();
        checkpoint_.agent = 4;
        checkpoint_.own_options = own_options(config_);
    }
    void accepted() const { EXPECT_NO_THROW(require_own_options({checkpoint_}, config_)); }
    void refused(const std::string& part) const {
        const std::string message =
            message_of<NetworkError>([&] { require_own_options({checkpoint_}, config_); });
        expect_contains(message, "agent 4");
        expect_contains(message, part);
    }

    TrainConfig config_;
    Checkpoint checkpoint_;
};

TEST_F(OwnOptions, MayBeAnythingButOthersThanTheCheckpointHas) {
    accepted();
    config_.plan.epsilon = 300;
    refused("--epsilon from another rank");
    refused("has '300', its own checkpoint '3'");
    config_.resume->given = {"epsilon"};
    accepted();
    config_.noise_seed = 7;
    refused("has '7', its own checkpoint not given");
    config_.noise_seed.reset();
    checkpoint_.own_options.emplace("roster", "all.roster");
    refused("--roster from another rank");
}

TEST_F(OwnOptions, MayDifferWhereTheyProtectNobody) {
    config_.plan.rounds = 77;
    config_.evaluate_every = 3;
    config_.graph.mixing = "lazy-metropolis";
    accepted();
}

TEST_F(OwnOptions, WithSecureSumsAreAlsoThoseThatDecideWhatSumsHide) {
    config_.secure_sum = true;
    checkpoint_.own_options = own_options(config_);
    accepted();
    config_.plan.rounds = 77;
    accepted();
    config_.graph.mixing = "lazy-metropolis";
    refused("--mixing from another rank");
    config_.secure_sum = false;
    refused("--secure-sum from another rank");
}

TEST_F(OwnOptions, ThatTheCheckpointDoesNotHaveAreTakenFromNoPeer) {
    checkpoint_.own_options.clear();
    refused("its own checkpoint not given");
}

namespace fs = std::filesystem;

/// A run of `rounds` rounds of which the first `sent` have left; resumed after `round` of them.
struct Interrupted {
    PlanConfig config;
    Topography topography;
    Resumption resumption;
    PlanConfig rest;  ///< of the phase to come

    [[nodiscard]] std::vector<PrivacyBudget> budgets_left() const {
        const int count = topography.graph.agents();
        return phase_budgets(build_budgets(config, count),
                             resumption,
                             rest,
                             topography,
                             Membership::everybody(count));
    }
};

Interrupted interrupted(const std::string& mechanism, long sent, long round) {
    Interrupted run{config_of(mechanism), random_topography(5), {}, {}};
    const test::Planned planned = test::plan(run.config, run.topography);
    PrivacyPhase phase = first_phase(planned.planned.design.plan,
                                     planned.exposures,
                                     plan_use(run.config, run.topography.mixing),
                                     sent);
    run.resumption.past.push_back(std::move(phase));
    run.resumption.first_round = run.resumption.round = round;
    run.rest = run.config;
    run.rest.rounds -= round;
    run.rest.steps.first_round = round;
    return run;
}

/// The largest epsilon once the rest has been sent under a plan for what is left.
double epsilon_in_the_end(const Interrupted& run, const PlannedNoise& planned) {
    const int count = run.topography.graph.agents();
    PrivacyRecord record;
    record.phases = run.resumption.past;
    record.phases.push_back(first_phase(planned.design.plan,
                                        build_exposures(run.rest, count, {}),
                                        plan_use(run.rest, run.topography.mixing),
                                        run.rest.rounds));
    record.budgets = build_budgets(run.config, count);
    return Ledger(std::move(record)).epsilon_after(run.config.rounds);
}

class ResumedPhase : public test::ResumableRun {};

TEST_F(ResumedPhase, CountsRoundsThatHadLeftAndStaysWithinTheBudget) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_EQ(rest.resumed->repeated, 7);
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);

    // By hand: two plans, each as long as its messages were sent.
    const Json json = ledger("run");
    const RunHistory history = read_history(path("run"));
    ASSERT_EQ(history.phases.size(), 2U);
    EXPECT_EQ(history.phases[0].rounds, 30 + rest.resumed->repeated);
    EXPECT_EQ(history.phases[1].use.steps.first_round, 30);
    EXPECT_EQ(history.phases[1].key_epoch, 1U);
    for (int u = 0; u < agents; ++u) {
        double squared = 0;
        for (const PrivacyPhase& phase : history.phases)
            squared += std::pow(2 * first.plan.clip_norm, 2) * static_cast<double>(phase.rounds) *
                       coalition_precision(phase.plan, 1)(u);
        const double mu = json.at("agents").at(static_cast<std::size_t>(u)).at("mu");
        EXPECT_NEAR(mu, std::sqrt(squared), 1e-9 * mu);
        EXPECT_LE(mu, gdp_mu(first.plan.epsilon, first.plan.delta) * (1 + 1e-9));
    }
    // Louder than it would have been.
    EXPECT_GT(history.phases[1].plan.scale, history.phases[0].plan.scale);
}

TEST_F(ResumedPhase, CorrelatedRoundsBeginAnewWithinTheBudget) {
    for (const char* mechanism : {"mafalda", "space-time"}) {
        TrainConfig first = config(mechanism, mechanism);
        first.plan.adjacency = Adjacency::record;
        first.plan.participation = {5};
        first.checkpoint_every = 10;
        run_until_killed(first, 24);
        const TrainResult rest = run(resumed(first, path(mechanism)));
        EXPECT_EQ(rest.resumed->round, 20);
        EXPECT_GT(rest.epsilon, 0.5 * first.plan.epsilon) << mechanism;
        EXPECT_LE(rest.epsilon, first.plan.epsilon * (1 + 1e-9)) << mechanism;
        const RunHistory history = read_history(path(mechanism));
        EXPECT_EQ(history.phases[1].plan.temporal.lower.rows(), 40) << mechanism;
    }
}

TEST_F(ResumedPhase, RefusesWhenNothingIsLeft) {
    TrainConfig first = config("run", "ldp");
    first.plan.rounds = 6;
    first.checkpoint_every = 1;
    for (int i = 0; i < 3; ++i)
        run_until_killed(i == 0 ? first : resumed(first, path("run")), i + 2);
    // Every lost round makes the rest louder, but never reveals more.
    const TrainResult rest = run(resumed(first, path("run")));
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
    // The history of a run that has spent all.
    TrainConfig spent = config("spent", "ldp");
    spent.checkpoint_every = 10;
    run_until_killed(spent, 15);
    fs::path mark;
    mark = path("spent") + "/sent/0";
    fs::remove(path("spent") + "/sent/0.now");
    std::string text = read_file(mark);
    text = text.substr(0, text.rfind("round ")) + "round " + std::to_string(rounds) + "\n";
    std::ofstream(mark) << text;
    expect_contains(message_of<PrivacyError>([&] { (void)run(resumed(spent, path("spent"))); }),
                    "nothing is left");
    // It can still end, with the models of its checkpoint, and counts what may have left.
    TrainConfig end = resumed(spent, path("spent"));
    end.resume->finish = true;
    Fate fate;
    const TrainResult ended = run(end, fate);
    EXPECT_EQ(fate.completed, 0);
    EXPECT_EQ(ended.rounds, 10);
    EXPECT_FALSE(ended.interrupted);
    EXPECT_EQ(ended.resumed->repeated, rounds - 10);
    EXPECT_NEAR(ended.epsilon, spent.plan.epsilon, 1e-6);
    EXPECT_EQ(ledger("spent").at("status"), "completed");
    EXPECT_EQ(ledger("spent").at("rounds").at("accounted"), rounds);
    for (int agent = 0; agent < agents; ++agent)
        EXPECT_EQ(
            read_npy(path("spent") + fmt::format("/agents/{}/model.npy", agent)),
            read_checkpoint(path("spent") +
                            fmt::format("/checkpoints/000000000010/agent-{}.checkpoint", agent))
                .checkpoint.model);
    expect_contains(message_of<Error>([&] { (void)run(end); }), "is complete");
}

TEST_F(ResumedPhase, MayBeTheLastWithoutAnotherRound) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    TrainConfig end = resumed(first, path("run"));
    end.resume->finish = true;
    Fate fate;
    const TrainResult ended = run(end, fate);
    expect_contains(fate.report, "after 30 rounds, where it ends, by --finish");
    expect_contains(fate.report, "7 rounds before the failure may have left: they count\n");
    EXPECT_EQ(ended.rounds, 30);
    EXPECT_LT(ended.epsilon, first.plan.epsilon);
    EXPECT_EQ(ledger("run").at("phases").size(), 1U);
    EXPECT_EQ(ledger("run").at("rounds").at("accounted"), 37);
    // What 37 of the rounds reveal.
    TrainConfig whole = config("whole");
    (void)run_until_stopped(whole, 37);
    EXPECT_LE(ledger("run").at("headline").at("epsilon").get<double>(),
              ledger("whole").at("headline").at("epsilon").get<double>());
}

TEST_F(ResumedPhase, RefusesAHistoryThatCountsLessThanTheAgentsKnow) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const auto tamper = [&](const char* key, double factor) {
        const fs::path file = fs::path(folder.path("run/history.json"));
        Json json = read_json(file);
        for (auto& value : json.at("phases").at(0).at(key)) value = value.get<double>() * factor;
        std::ofstream(file) << json.dump();
    };
    tamper("sensitivity", 0.5);
    expect_contains(message_of<PrivacyError>([&] { (void)run(resumed(first, path("run"))); }),
                    "agent 0: rank 0's history says sensitivity 0.1 of phase 0, the agent's own "
                    "record 0.2");
}

TEST_F(ResumedPhase, InjectsInEveryPhaseWhatItsPlanSays) {
    TrainConfig first = config("run");
    first.noise_seed.reset();
    first.plan.rounds = 400;
    first.checkpoint_every = 200;
    first.record_views = Membership::everybody(agents).numbers;
    run_until_killed(first, 260);
    (void)run(resumed(first, path("run")));
    const RunHistory history = read_history(path("run"));
    ASSERT_EQ(history.phases.size(), 2U);
    const Eigen::MatrixXd covariance = spatial_covariance(history.phases[1].plan);
    EXPECT_GT(covariance(0, 0), 1.05 * spatial_covariance(history.phases[0].plan)(0, 0));
    std::vector<RecordedView> views;
    for (int u = 0; u < agents; ++u)
        views.push_back(
            read_recorded_view(fs::path(path("run")) / "views-1" / std::to_string(u) / "view.bin"));
    ASSERT_EQ(views[0].records.size(), 200U);
    EXPECT_EQ(views[0].records.front().round, 200);
    Eigen::MatrixXd products = Eigen::MatrixXd::Zero(agents, agents);
    double count = 0;
    for (std::size_t r = 0; r < views[0].records.size(); ++r) {
        Eigen::MatrixXd noise(views[0].records[r].noise.rows(), agents);
        for (int u = 0; u < agents; ++u)
            noise.col(u) = views[static_cast<std::size_t>(u)].records[r].noise.col(0);
        products += noise.transpose() * noise;
        count += static_cast<double>(noise.rows());
    }
    for (int u = 0; u < agents; ++u)
        for (int v = 0; v < agents; ++v) {
            // Var of a product of two normals: R_uu R_vv + R_uv^2; five standard errors.
            const double error = 5 * std::sqrt((covariance(u, u) * covariance(v, v) +
                                                covariance(u, v) * covariance(u, v)) /
                                               count);
            EXPECT_NEAR(products(u, v) / count, covariance(u, v), error) << u << " " << v;
        }
}

TEST(PhaseBudgets, LeaveWhatWasNotSpent) {
    for (const std::string mechanism : {"ldp", "corn", "laplace"}) {
        const Interrupted run = interrupted(mechanism, 40, 30);
        const auto left = run.budgets_left();
        const auto whole = build_budgets(run.config, 5);
        PrivacyLosses spent(5);
        spent.add(run.resumption.past.front(), 40, 0);
        for (std::size_t u = 0; u < 5; ++u) {
            EXPECT_EQ(left[u].epsilon, 10);
            EXPECT_NEAR(left[u].limit.amount().value +
                            spent.worst_of(static_cast<int>(u), left[u].delta).amount().value,
                        whole[u].limit.amount().value,
                        1e-12)
                << mechanism;
        }
    }
}

TEST(PhaseBudgets, AreEmptyWhereEverythingWasSent) {
    const Interrupted run = interrupted("ldp", 100, 60);
    expect_contains(message_of<PrivacyError>([&] { (void)run.budgets_left(); }),
                    "nothing is left for 40 more");
}

TEST(PlanPhase, KeepsTheRunWithinItsBudget) {
    for (const std::string mechanism : {"ldp", "corn", "mafalda", "laplace"}) {
        const Interrupted run = interrupted(mechanism, 12, 10);
        const PlannedNoise planned = plan_phase(
            run.rest, run.topography, build_exposures(run.rest, 5, {}), run.budgets_left(), true);
        EXPECT_LE(epsilon_in_the_end(run, planned), 10 * (1 + 1e-9)) << mechanism;
        // Of correlated rounds every pattern counts as the worst, and something may stay unspent.
        if (mechanism != "mafalda") {
            EXPECT_GE(epsilon_in_the_end(run, planned), 9.99) << mechanism;
        }
    }
}

TEST(PlanPhase, MakesAPlanOfAFileLouder) {
    const test::TemporaryFolder folder;
    for (const std::string mechanism : {"ldp", "laplace"}) {
        Interrupted run = interrupted(mechanism, 12, 10);
        run.rest.plan_file = folder.write("plan.json", to_json(run.resumption.past.front().plan));
        const auto exposures = build_exposures(run.rest, 5, {});
        const auto left = run.budgets_left();
        const PlannedNoise planned = plan_phase(run.rest, run.topography, exposures, left, true);
        EXPECT_GT(planned.design.plan.scale, run.resumption.past.front().plan.scale);
        EXPECT_NEAR(epsilon_in_the_end(run, planned), 10, 1e-6) << mechanism;
        // At the start of a run the plan is taken as it is.
        EXPECT_EQ(plan_phase(run.rest, run.topography, exposures, left, false).design.plan.scale,
                  run.resumption.past.front().plan.scale);
    }
}

TEST(KeptPlan, IsThatOfThePhase) {
    const Interrupted run = interrupted("ldp", 12, 10);
    const PlannedNoise kept = kept_plan(run.resumption.past.front(), run.config);
    EXPECT_EQ(kept.design.plan.hash(), run.resumption.past.front().plan.hash());
    EXPECT_TRUE(kept.kept);
    EXPECT_FALSE(kept.solved);
    EXPECT_TRUE(std::isnan(kept.design.objective));
}

TEST(GoingOnAs, KeepsThePhaseAsItWasAndRefusesOptionsThatCountOtherwise) {
    const Interrupted run = interrupted("ldp", 12, 10);
    PrivacyPhase before = run.resumption.past.front();
    before.sessions.resize(1);
    PrivacyPhase now = before;
    now.sessions.front().fill(1);
    now.rounds = 100;
    const PrivacyPhase both = going_on_as(before, now, run.config);
    EXPECT_EQ(both.sessions.size(), 2U);
    EXPECT_EQ(both.rounds, 100);
    now.use.own_weights *= 1 + 1e-12;
    EXPECT_EQ(going_on_as(before, now, run.config).use.own_weights, before.use.own_weights);
    now.use.steps.step_size *= 2;
    expect_contains(message_of<PrivacyError>([&] { (void)going_on_as(before, now, run.config); }),
                    "agent 0: the phase that goes on was counted with step_size");
}

TEST_F(ResumedPhase, SampledPartsStayWithinTheBudgetInEveryPattern) {
    for (const char* mechanism : {"ldp", "mafalda"}) {
        TrainConfig first = config(mechanism, mechanism);
        first.plan.adjacency = Adjacency::record_add_remove;
        first.plan.participation = {.cycle = 4, .poisson = true};
        first.plan.batch_size = 6;
        first.plan.epsilon = 3;
        first.checkpoint_every = 10;
        run_until_killed(first, 33);
        const TrainResult rest = run(resumed(first, path(mechanism)));
        EXPECT_EQ(rest.resumed->round, 30);
        EXPECT_EQ(rest.resumed->repeated, 3);
        EXPECT_LE(rest.epsilon, 3) << mechanism;
        EXPECT_GT(rest.epsilon, 2.9) << mechanism;
        // By hand: rounds 0 to 32, then 30 to 59, each with the noise of its phase, in the part of
        // a record.
        const RunHistory history = read_history(path(mechanism));
        ASSERT_EQ(history.phases.size(), 2U);
        EXPECT_GT(history.phases[1].plan.scale, history.phases[0].plan.scale);
        double worst = 0;
        for (std::size_t u = 0; u < agents; ++u)
            for (long part = 0; part < 4; ++part) {
                std::vector<SampledRounds> rounds_of_part;
                for (const PrivacyPhase& phase : history.phases) {
                    const long begin = phase.use.steps.first_round;
                    long count = 0;
                    for (long t = begin; t < begin + phase.rounds; ++t) count += t % 4 == part;
                    const double precision =
                        coalition_precision(phase.plan, 0)(static_cast<Eigen::Index>(u));
                    rounds_of_part.push_back({1 / (phase.sensitivity[u] * std::sqrt(precision)),
                                              phase.sampling_probability[u],
                                              count});
                }
                worst = std::max(worst, PrivacyLoss::sampled(rounds_of_part).epsilon(1e-5).upper);
            }
        EXPECT_NEAR(worst, rest.epsilon, 2e-3 * worst) << mechanism;
        EXPECT_LE(worst, 3 * (1 + 1e-6)) << mechanism;
    }
}

}  // namespace
}  // namespace sotto
