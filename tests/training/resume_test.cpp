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
#include "tasks/predictions.hpp"
#include "training/resume_fixtures.hpp"
#include "trust/identity.hpp"

namespace sotto {
namespace {

using test::agents;
using test::expect_contains;
using test::Fate;
using test::Json;
using test::message_of;
using test::models_of;
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

TEST_F(Resume, KeepsThePreconditioner) {
    for (const long stop : {12L, 40L}) {  // between renewals, and at one
        const std::string at = std::to_string(stop);
        const auto configured = [&](const std::string& directory) {
            TrainConfig result = config(directory, "pairs");
            result.plan.precondition_every = 8;
            result.plan.momentum = 0.5;
            return result;
        };
        const TrainResult whole = run(configured("whole" + at));
        (void)run_until_stopped(configured("parts" + at), stop);
        (void)run(resumed(configured("ignored"), path("parts" + at)));
        EXPECT_EQ(models_of(path("parts" + at)), models_of(path("whole" + at))) << stop;
        TrainConfig plain = configured("plain" + at);
        plain.plan.precondition_every = 0;
        EXPECT_NE(run(plain).last.test_loss, whole.last.test_loss);
    }
}

TEST_F(Resume, KeepsWhatCorrectionsNeed) {
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
        const std::string kind = name_of(correction);
        const auto configured = [&](const std::string& directory) {
            TrainConfig result = config(directory, "pairs");
            result.plan.correction = correction;
            result.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
            return result;
        };
        const TrainResult whole = run(configured("whole" + kind));
        (void)run_until_stopped(configured("parts" + kind), 23);
        const TrainResult rest = run(resumed(configured("ignored"), path("parts" + kind)));
        EXPECT_TRUE(rest.resumed->same_keys) << kind;
        EXPECT_EQ(models_of(path("parts" + kind)), models_of(path("whole" + kind))) << kind;
        EXPECT_EQ(ledger("parts" + kind).at("headline"), ledger("whole" + kind).at("headline"));
        TrainConfig plain = configured("plain" + kind);
        plain.plan.correction = Correction::none;
        EXPECT_NE(run(plain).last.test_loss, whole.last.test_loss) << kind;
    }
}

TEST_F(Resume, BeginsCorrectionsAnewWithoutAgentsThatLeave) {
    // Corrections of those who stay would not add up to zero, and the mean would drift for ever.
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
        const std::string kind = name_of(correction);
        TrainConfig first = config("left" + kind, "none");
        first.plan.correction = correction;
        first.plan.mechanism = "none";
        (void)run_until_stopped(first, 23);
        const TrainResult rest = run(resumed(first, path("left" + kind), {2}), agents - 1);
        EXPECT_EQ(rest.rounds, rounds) << kind;
        TrainConfig plain = config("plain" + kind, "none");
        (void)run_until_stopped(plain, 23);
        const TrainResult plainly = run(resumed(plain, path("plain" + kind), {2}), agents - 1);
        // Own models of agents whose data differ come nearer to each other.
        EXPECT_LT(rest.last.consensus_distance, plainly.last.consensus_distance) << kind;
        EXPECT_LT(rest.last.test_loss, 1.05 * plainly.last.test_loss) << kind;
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
    // One file for all agents of the process.
    EXPECT_EQ(saved_seeds_in(path("run")).size(), 1U);
    // What only looks does not use them up.
    TrainConfig look = resumed(first, path("run"));
    look.dry_run = true;
    EXPECT_TRUE(run(look).resumed->same_keys);
    EXPECT_EQ(saved_seeds_in(path("run")).size(), 1U);
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

TEST_F(ResumeWithData, KeepsTheScalingThatWasLearnt) {
    TrainConfig first = config("run");
    std::string text = "dose,sick\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i % 20) + (i % 20 > 9 ? ",yes\n" : ",no\n");
    first.task.data = folder.write("doses.csv", text);
    first.task.test_data.reset();
    first.task.table.label = "sick";
    first.task.table.bounds = parse_bounds("dose=0:100");
    first.task.standardise = Standardise::private_moments;
    const Standardisation learnt{{{.mean = 9.5, .deviation = 5.75, .low = 0, .high = 100}}};
    first.task.known_scaling = learnt;
    run_until_killed(first, 4);
    EXPECT_EQ(read_history(*first.run_directory).scaling, learnt);
    first.task.known_scaling.reset();
    (void)run(resumed(first, *first.run_directory));
    EXPECT_EQ(read_history(*first.run_directory).scaling, learnt);
    const std::string card = path("run/agents/3/model.json");
    EXPECT_EQ(model_card_from_json(read_file(card), card).scaling, learnt);
}

TEST(ResumptionText, SaysHowTheRunGoesOn) {
    EXPECT_EQ(resumption_text({20, 0, 0, true, false, {}}, {}),
              "resumed    after 20 rounds, with the same keys\n");
    const std::string text = resumption_text({20, 1, 2, false, false, {3}}, {"a note"});
    expect_contains(text, "with new keys (epoch 2)");
    expect_contains(text, "messages of 1 more round may have been sent before the failure");
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

}  // namespace
}  // namespace sotto
