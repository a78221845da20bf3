#include "run/resume.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <thread>

#include "run/run_fixtures.hpp"
#include "run/run_history.hpp"
#include "sotto/agent/recorded_view.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/trust/identity.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

using test::expect_contains;
using test::Json;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::read_json;
using test::TemporaryFolder;

constexpr int agents = 6;
constexpr long rounds = 60;

/// What a killed process looks like from the inside: nothing after this is done.
struct Killed : std::runtime_error {
    Killed() : std::runtime_error("killed") {}
};

/// Stops, or dies, once so many rounds are done.
struct Fate final : TrainingObserver {
    void on_start(const PlannedNoise&,
                  const BuiltTopography&,
                  const std::string&,
                  const std::string& text,
                  const RunEstimate*) override {
        report = text;
    }
    void on_round(long completed, long) override {
        if (die_after > 0 && completed == die_after) throw Killed();
        if (stop_after == 0) return;
        stop = completed >= stop_after;
        // Agents agree to stop about ten times a second.
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    long stop_after = 0, die_after = 0;
    bool stop = false;
    std::string report;
};

TrainResult run(const TrainConfig& config, Fate& fate, int there = agents) {
    const auto network = make_memory_network(there, 1);
    return run_training(config, *network, fate, [&] { return fate.stop; });
}
TrainResult run(const TrainConfig& config, int there = agents) {
    Fate fate;
    return run(config, fate, there);
}
TrainResult run_until_stopped(const TrainConfig& config, long after) {
    Fate fate;
    fate.stop_after = after;
    const TrainResult result = run(config, fate);
    EXPECT_TRUE(result.interrupted);
    EXPECT_GE(result.rounds, after);
    EXPECT_LT(result.rounds, rounds);
    return result;
}
void run_until_killed(const TrainConfig& config, long after, int there = agents) {
    Fate fate;
    fate.die_after = after;
    EXPECT_THROW((void)run(config, fate, there), Killed);
}

TrainConfig resumed(TrainConfig config,
                    const std::string& directory,
                    std::vector<int> without = {}) {
    config.resume = ResumeConfig{directory, std::move(without)};
    return config;
}

Eigen::MatrixXd models_of(const fs::path& directory, const std::vector<int>& numbers) {
    Eigen::MatrixXd models;
    for (const int number : numbers) {
        const Eigen::MatrixXd model =
            read_npy(directory / "agents" / std::to_string(number) / "model.npy");
        models.conservativeResize(model.rows(), models.cols() + 1);
        models.rightCols(1) = model;
    }
    return models;
}
Eigen::MatrixXd models_of(const fs::path& directory) {
    return models_of(directory, Membership::everybody(agents).numbers);
}

class Resume : public ::testing::Test {
  protected:
    TrainConfig config(const std::string& name, const std::string& mechanism = "pairs") const {
        TrainConfig result = logistic_config(folder, agents, mechanism, rounds);
        result.run_directory = folder.path(name);
        return result;
    }
    std::string path(const std::string& name) const { return folder.path(name); }
    Json ledger(const std::string& name) const {
        return read_json(fs::path(folder.path(name)) / "ledger.json");
    }
    /// Fresh keys from the operating system, kept for identities.
    void give_identities(TrainConfig& config) const {
        const fs::path roster = fs::path(folder.path("roster"));
        if (!fs::exists(roster))
            for (int u = 0; u < agents; ++u)
                (void)enroll(fs::path(folder.path("id" + std::to_string(u))),
                             roster,
                             "agent" + std::to_string(u));
        config.trust = TrustConfig{roster.string(), (fs::path(folder.path("id%r"))).string()};
        config.noise_seed.reset();
    }
    TemporaryFolder folder;
};

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

TEST_F(Resume, CountsRoundsThatHadLeftAndStaysWithinTheBudget) {
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

TEST_F(Resume, CountsUpToTheMarkOnDiskWhereTheHostWentDownToo) {
    const auto killed = [&](const std::string& name) {
        TrainConfig first = config(name);
        first.checkpoint_every = 10;
        run_until_killed(first, 37);
        return first;
    };
    // Another start of the host: what was not flushed may be of before.
    const TrainConfig elsewhere = killed("elsewhere");
    const fs::path mark = path("elsewhere") + "/sent/0";
    std::string text = read_file(mark);
    const auto host = text.find("host ") + 5;
    text.replace(host, text.find('\n', host) - host, "another");
    std::ofstream(mark) << text;
    const TrainResult rest = run(resumed(elsewhere, path("elsewhere")));
    EXPECT_GE(rest.resumed->repeated, 7);
    EXPECT_LE(rest.resumed->repeated, 10);  // no further than the next checkpoint
    EXPECT_NEAR(rest.epsilon, elsewhere.plan.epsilon, 1e-6);
    // A mark of another phase, or none, says nothing exact.
    const TrainConfig lost = killed("lost");
    fs::remove(path("lost") + "/sent/0.now");
    EXPECT_EQ(run(resumed(lost, path("lost"))).resumed->repeated, rest.resumed->repeated);
    const TrainConfig gone = killed("gone");
    fs::remove(path("gone") + "/sent/0");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(gone, path("gone"))); }),
                    "mark of agent 0's sent rounds is missing");
    const TrainConfig damaged = killed("damaged");
    std::ofstream(path("damaged") + "/sent/0") << "sotto-sent 1\nrun";
    expect_contains(message_of<DataError>([&] { (void)run(resumed(damaged, path("damaged"))); }),
                    "damaged");
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

TEST_F(Resume, CorrelatedRoundsBeginAnewWithinTheBudget) {
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

TEST_F(Resume, RefusesWhenNothingIsLeft) {
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
}

TEST_F(Resume, TakesTheCheckpointBeforeADamagedOne) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const auto folders = fs::directory_iterator(path("run") + "/checkpoints");
    EXPECT_EQ(std::distance(begin(folders), end(folders)), 2);  // of rounds 20 and 30
    const fs::path newest =
        fs::path(folder.path("run/checkpoints/000000000030/agent-4.checkpoint"));
    std::string bytes = read_file(newest);
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(newest, std::ios::binary) << bytes;
    Fate fate;
    const TrainResult rest = run(resumed(first, path("run")), fate);
    EXPECT_EQ(rest.resumed->round, 20);
    expect_contains(fate.report, "agent-4.checkpoint: it is damaged");
    EXPECT_NEAR(rest.epsilon, first.plan.epsilon, 1e-6);
}

TEST_F(Resume, NeverTakesHalfACheckpointForAWholeOne) {
    TrainConfig first = config("run");
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    const fs::path folders = fs::path(folder.path("run/checkpoints"));
    // A manifest is missing, and the file of one agent.
    fs::remove(folders / "000000000030/manifest.json");
    fs::remove(folders / "000000000020/agent-0.checkpoint");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("run"))); }),
                    "no checkpoint is usable");
    // Files of two checkpoints do not make one.
    fs::copy_file(folders / "000000000030/agent-0.checkpoint",
                  folders / "000000000020/agent-0.checkpoint");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("run"))); }),
                    "is of another checkpoint");
}

TEST_F(Resume, RefusesAHistoryThatCountsLessThanTheAgentsKnow) {
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
                    "its own checkpoint");
}

TEST_F(Resume, RefusesRunsThatCannotGoOn) {
    TrainConfig first = config("run");
    expect_contains(message_of<DataError>([&] { (void)run(resumed(first, path("nowhere"))); }),
                    "history.json");
    (void)run(first);
    expect_contains(message_of<ConfigError>([&] { (void)run(resumed(first, path("run"))); }),
                    "is complete");
    TrainConfig lost = config("lost");
    run_until_killed(lost, 20);
    expect_contains(message_of<DataError>([&] { (void)run(resumed(lost, path("lost"))); }),
                    "no whole checkpoint");
    TrainConfig other = config("other");
    (void)run_until_stopped(other, 20);
    TrainConfig with_less = resumed(other, path("other"));
    with_less.task.data = folder.write("less.txt", test::records_with_own_feature(90));
    (void)message_of<DataError>([&] { (void)run(with_less); });
}

TEST_F(Resume, LetsAgentsLeaveWithStableNumbers) {
    TrainConfig first = config("run");
    first.graph.topology.topology = Topology::complete;
    const TrainResult stopped = run_until_stopped(first, 20);
    const Json before = ledger("run");
    const TrainResult rest = run(resumed(first, path("run"), {1, 4}), 4);
    EXPECT_EQ(rest.resumed->agents_gone, (std::vector<int>{1, 4}));
    EXPECT_EQ(rest.agents, 4);
    const Json after = ledger("run");
    for (const std::size_t u : {1U, 4U}) {
        EXPECT_EQ(after.at("agents").at(u).at("mu"), before.at("agents").at(u).at("mu"));
        EXPECT_EQ(after.at("agents").at(u).at("left_after"), stopped.rounds);
        EXPECT_FALSE(fs::exists(path("run") + "/agents/" + std::to_string(u) + "/summary"));
    }
    const double target = gdp_mu(first.plan.epsilon, first.plan.delta);
    const RunHistory history = read_history(path("run"));
    EXPECT_EQ(history.phases[1].members.numbers, (std::vector<int>{0, 2, 3, 5}));
    for (const std::size_t u : {0U, 2U, 3U, 5U}) {
        const double mu = after.at("agents").at(u).at("mu");
        EXPECT_LE(mu, target * (1 + 1e-9));
        EXPECT_GT(mu, 0.99 * target);
    }
    // Everybody keeps its own records: the same data, whoever else is there.
    EXPECT_EQ(after.at("phases").at(1).at("agents_gone"), (Json{1, 4}));
    // Later somebody else leaves; numbers still mean the same.
    TrainConfig second = config("more");
    second.graph.topology.topology = Topology::complete;
    second.checkpoint_every = 5;
    (void)run_until_stopped(second, 10);
    run_until_killed(resumed(second, path("more"), {0}), 31, 5);
    const TrainResult last = run(resumed(second, path("more"), {3}), 4);
    EXPECT_EQ(last.resumed->agents_gone, (std::vector<int>{0, 3}));
    EXPECT_LE(last.epsilon, second.plan.epsilon * (1 + 1e-9));
}

TEST_F(Resume, WhoStaysTrainsOnItsOwnDataOnly) {
    // Every record has a feature of its own: a model shows whose records it has met.
    TrainConfig first = config("run", "none");
    first.graph.topology.topology = Topology::complete;
    first.task.data = folder.write("own.txt", test::records_with_own_feature(120));
    first.plan.steps.step_size = 0.5;
    const TrainResult stopped = run_until_stopped(first, 10);
    const fs::path checkpoints = fs::path(folder.path("run/checkpoints"));
    const fs::path at = fs::directory_iterator(checkpoints)->path();
    Eigen::MatrixXd before(models_of(path("run")).rows(), 3);
    int column = 0;
    for (const int number : {0, 2, 5})
        before.col(column++) =
            read_checkpoint(at / ("agent-" + std::to_string(number) + ".checkpoint"))
                .checkpoint.model;
    (void)run(resumed(first, path("run"), {1, 3, 4}), 3);
    const Eigen::MatrixXd after = models_of(path("run"), {0, 2, 5});
    // What the three have met since is what changed in their mean by more than mixing can.
    const Eigen::VectorXd moved = (after.rowwise().mean() - before.rowwise().mean()).cwiseAbs();
    TaskConfig task = first.task;
    const auto network = make_memory_network(3, 1);
    const LocalTask alone = build_task(task, *network, Membership{agents, {0, 2, 5}});
    Eigen::VectorXd own = Eigen::VectorXd::Zero(moved.size());
    for (const auto& objective : alone.objectives) {
        std::vector<Eigen::Index> all(static_cast<std::size_t>(objective->records()));
        std::iota(all.begin(), all.end(), 0);
        Eigen::VectorXd gradient(moved.size());
        objective->mean_gradient(Eigen::VectorXd::Zero(moved.size()), all, gradient);
        own += gradient.cwiseAbs();
    }
    EXPECT_GT(stopped.rounds, 0);
    for (Eigen::Index feature = 0; feature + 1 < moved.size(); ++feature) {
        if (own(feature) == 0)
            EXPECT_LT(moved(feature), 1e-12) << feature;
        else
            EXPECT_GT(moved(feature), 1e-6) << feature;
    }
}

TEST_F(Resume, RefusesDeparturesThatBreakTheRun) {
    TrainConfig ring = config("run");
    (void)run_until_stopped(ring, 20);
    const auto refusal = [&](const TrainConfig& config, std::vector<int> without, int there) {
        return message_of<ConfigError>(
            [&] { (void)run(resumed(config, path("run"), std::move(without)), there); });
    };
    expect_contains(refusal(ring, {1, 4}, 4), "not connected");
    expect_contains(refusal(ring, {7}, 5), "does not exist");
    expect_contains(refusal(ring, {0, 1, 2, 3, 4, 5}, 1), "nobody is left");
    expect_contains(refusal(ring, {1}, 6), "take part, but there are");
    // Nothing of that has changed the run.
    const TrainResult rest = run(resumed(ring, path("run"), {1}), 5);
    EXPECT_EQ(rest.resumed->repeated, 0);
    TrainConfig zip = config("zip", "zip-dl");
    (void)run_until_stopped(zip, 20);
    expect_contains(message_of<ConfigError>([&] { (void)run(resumed(zip, path("zip"), {1}), 5); }),
                    "own copy");
}

TEST_F(Resume, CarriesPartialViewsAcrossADeparture) {
    TrainConfig first = config("run");
    first.views = "node:0;coalition:0,3;eavesdropper";
    const TrainResult stopped = run_until_stopped(first, 20);
    (void)run(resumed(first, path("run"), {1}), 5);
    const RunHistory history = read_history(path("run"));
    std::vector<NoisePlan> plans;
    for (const PrivacyPhase& phase : history.phases)
        plans.push_back(renumbered(phase.plan, phase.members));
    const Topography all = build_topography(first.graph, rounds).topography;
    // The path that is left of the ring once agent 1 is gone.
    std::vector<Edge> edges;
    for (const auto& [u, v] : all.graph.edges())
        if (u != 1 && v != 1) edges.emplace_back(u, v);
    const Graph rest = Graph::from_edges(agents, edges);
    Eigen::MatrixXd mixing = Eigen::MatrixXd::Zero(agents, agents);
    for (int u = 0; u < agents; ++u) {
        double others = 0;
        for (const int v : rest.neighbours(u)) {
            const double weight = 1.0 / (1 + std::max(rest.degree(u), rest.degree(v)));
            mixing(u, v) = weight;
            others += weight;
        }
        mixing(u, u) = 1 - others;
    }
    MessageProcess process;
    process.graph = &all.graph;
    process.plan = &plans[0];
    process.phases.push_back({stopped.rounds, all.schedule(), {}, nullptr, 0});
    process.phases.push_back({rounds - stopped.rounds,
                              MixingSchedule({MixingMatrix::from_dense(all.graph, mixing)}),
                              {1},
                              &plans[1],
                              0});
    const Json json = ledger("run");
    const std::vector<View> views{{View::Kind::neighbours, {0}},
                                  {View::Kind::neighbours, {0, 3}},
                                  {View::Kind::all_messages, {}}};
    for (std::size_t i = 0; i < views.size(); ++i) {
        const Json& entry = json.at("views").at(i);
        const int target = entry.at("target");
        ViewOptions options;
        options.tight_gap = 1;
        double most = 0;
        for (int u = 0; u < agents; ++u) {
            if (std::ranges::binary_search(views[i].members, u)) continue;
            const auto squared =
                view_sensitivity(process, views[i], std::vector<int>{u}, {1}, options);
            const double mu = 2 * first.plan.clip_norm * std::sqrt(squared[0].certified());
            most = std::max(most, mu);
            if (u == target) {
                EXPECT_NEAR(entry.at("mu").get<double>(), mu, 1e-9 * mu);
            }
        }
        EXPECT_NEAR(entry.at("mu").get<double>(), most, 1e-9 * most);
        EXPECT_EQ(entry.at("rounds"), rounds);
    }
}

TEST_F(Resume, CountsRepeatedRoundsInPartialViews) {
    TrainConfig first = config("run", "ldp");
    first.views = "node:0;eavesdropper";
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    (void)run(resumed(first, path("run")));
    TrainConfig whole = config("whole", "ldp");
    whole.views = first.views;
    (void)run(whole);
    // Somebody who saw rounds twice, under noise of their own, knows more than an equal budget of
    // rounds seen once would tell a node; the eavesdropper's is the budget in both.
    const Json twice = ledger("run").at("views"), once = ledger("whole").at("views");
    EXPECT_NEAR(twice.at(1).at("mu").get<double>(), once.at(1).at("mu").get<double>(), 1e-6);
    EXPECT_LE(twice.at(0).at("mu").get<double>(), twice.at(1).at("mu").get<double>() * (1 + 1e-9));
    EXPECT_GT(twice.at(0).at("mu").get<double>(), 0);
}

TEST_F(Resume, InjectsInEveryPhaseWhatItsPlanSays) {
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

TEST_F(Resume, OneRunIsTakenUpOnceAtATime) {
    TrainConfig first = config("run");
    (void)run_until_stopped(first, 20);
    struct Second final : TrainingObserver {
        explicit Second(std::function<void()> given) : action(std::move(given)) {}
        void on_round(long, long) override {
            if (action) std::exchange(action, nullptr)();
        }
        std::function<void()> action;
    } second([&] {
        expect_contains(message_of<ConfigError>([&] { (void)run(resumed(first, path("run"))); }),
                        "still going on");
    });
    const auto network = make_memory_network(agents, 1);
    (void)run_training(resumed(first, path("run")), *network, second, [] { return false; });
}

}  // namespace
}  // namespace sotto
