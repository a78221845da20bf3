#include "training/participants.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "agent/checkpoint.hpp"
#include "config/run_fixtures.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "store/checkpoint_store.hpp"
#include "store/run_history.hpp"
#include "tasks/task.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::agents;
using test::expect_contains;
using test::Json;
using test::message_of;
using test::models_of;
using test::resumed;
using test::run;
using test::run_until_killed;
using test::run_until_stopped;
using test::TemporaryFolder;

namespace fs = std::filesystem;

class Departure : public test::ResumableRun {};

TEST_F(Departure, LetsAgentsLeaveWithStableNumbers) {
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

TEST_F(Departure, WhoStaysTrainsOnItsOwnDataOnly) {
    // Every record has a feature of its own: a model shows whose records it has met.
    TrainConfig first = config("run", "none");
    first.graph.topology.topology = Topology::complete;
    first.task.data = folder.write("own.txt", test::records_with_own_feature(120));
    first.plan.steps.step_size = 0.5;
    const TrainResult stopped = run_until_stopped(first, 10);
    const fs::path at =
        fs::path(path("run")) / "checkpoints" / fmt::format("{:012}", stopped.rounds);
    Eigen::MatrixXd before(models_of(path("run")).rows(), 3);
    int column = 0;
    for (const int number : {0, 2, 5})
        before.col(column++) = read_checkpoint(checkpoints_in(at), number).checkpoint.model;
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

TEST_F(Departure, RefusesDeparturesThatBreakTheRun) {
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

/// Of six agents, of which agent 1 has left and agent 4 waits.
RunHistory some_history() {
    RunHistory history;
    history.phases.emplace_back().members = {6, {0, 1, 2, 3, 5}};
    history.phases.emplace_back().members = {6, {0, 2, 3, 5}};
    return history;
}

ResumeConfig change_of(std::vector<int> without, std::vector<int> joining = {}) {
    return {.directory = {}, .without = std::move(without), .joining = std::move(joining)};
}

TEST(MembersAfter, KeepTheirNumbers) {
    const RunHistory history = some_history();
    const Membership rest = members_after(history, change_of({2, 5}));
    EXPECT_EQ(rest.all, 6);
    EXPECT_EQ(rest.numbers, (std::vector<int>{0, 3}));
    EXPECT_EQ(members_after(history, {}).numbers, (std::vector<int>{0, 2, 3, 5}));
    const auto refusal = [&](int number) {
        return message_of<ConfigError>([&] { (void)members_after(history, change_of({number})); });
    };
    expect_contains(
        refusal(1),
        "agent 1 has already left (allowed: agents that are still in the run, 0, 2, 3, 5)");
    expect_contains(refusal(4), "agent 4 has not joined");
    expect_contains(refusal(6), "agent 6 does not exist");
}

TEST(MembersAfter, HaveJoinedIfTheyNeverTookPart) {
    const RunHistory history = some_history();
    EXPECT_EQ(members_after(history, change_of({0}, {4})).numbers, (std::vector<int>{2, 3, 4, 5}));
    const auto refusal = [&](int number) {
        return message_of<ConfigError>(
            [&] { (void)members_after(history, change_of({}, {number})); });
    };
    expect_contains(refusal(1), "agent 1 has taken part already");
    expect_contains(refusal(2), "agent 2 has taken part already");
    expect_contains(refusal(6), "agent 6 does not exist");
    EXPECT_EQ(waiting_spares({1, 4}, &history), (std::vector<int>{4}));
    EXPECT_EQ(waiting_spares({1, 4}, nullptr), (std::vector<int>{1, 4}));
}

TEST(PossibleSpares, ExistAndDoNotLead) {
    EXPECT_NO_THROW(require_possible_spares({1, 5}, 6));
    for (const int number : {0, 6, -1})
        EXPECT_THROW(require_possible_spares({number}, 6), ConfigError) << number;
}

class Arrival : public test::ResumableRun {
  protected:
    /// Agent 4 waits.
    TrainConfig waiting(const std::string& name, const std::string& mechanism = "pairs") const {
        TrainConfig result = config(name, mechanism);
        result.graph.topology.topology = Topology::complete;
        result.spares = {4};
        return result;
    }
    static TrainConfig joined(const TrainConfig& first) {
        TrainConfig result = resumed(first, *first.run_directory);
        result.resume->joining = {4};
        return result;
    }
    static TrainResult stopped(const TrainConfig& config, long after, int there) {
        test::Fate fate;
        fate.stop_after = after;
        return run(config, fate, there);
    }
};

TEST_F(Arrival, LetsAnAgentJoinWithItsOwnBudget) {
    const TrainConfig first = waiting("run");
    const TrainResult before = stopped(first, 20, 5);
    ASSERT_TRUE(before.interrupted);
    EXPECT_EQ(ledger("run").at("agents").at(4).at("waits"), true);
    EXPECT_EQ(ledger("run").at("agents").at(4).at("epsilon"), 0);
    const TrainResult rest = run(joined(first), 6);
    EXPECT_EQ(rest.agents, 6);
    const Json after = ledger("run");
    EXPECT_EQ(after.at("phases").at(0).at("agents_gone"), (Json{4}));
    EXPECT_EQ(after.at("phases").at(1).at("agents_gone"), Json::array());
    const double target = gdp_mu(first.plan.epsilon, first.plan.delta);
    for (std::size_t u = 0; u < 6; ++u) {
        const double mu = after.at("agents").at(u).at("mu");
        EXPECT_LE(mu, target * (1 + 1e-9)) << u;
        EXPECT_GT(mu, 0.5 * target) << u;
        EXPECT_FALSE(after.at("agents").at(u).contains("waits"));
    }
    EXPECT_TRUE(fs::exists(path("run") + "/agents/4/model.npy"));
}

TEST_F(Arrival, BeginsAtTheInitialModelWithMomentumAndMeans) {
    TrainConfig first = waiting("run", "none");
    first.plan.momentum = 0.5;
    first.plan.average = {ModelAverage::Kind::exponential, 0.9};
    const TrainResult before = stopped(first, 20, 5);
    // Bit for bit, whoever else is in its process.
    const TrainResult rest = run(joined(first), 6);
    EXPECT_EQ(rest.rounds, test::rounds);
    EXPECT_TRUE(std::isfinite(rest.evaluation.test_loss));
    EXPECT_GT(before.rounds, 0);
}

TEST_F(Arrival, HasACheckpointBeforeItsFirstMessage) {
    const TrainConfig first = waiting("run");
    (void)stopped(first, 20, 5);
    test::run_until_killed(
        joined(first), ledger("run").at("rounds").at("completed").get<long>() + 1, 6);
    const TrainResult rest = run(resumed(first, path("run")), 6);
    EXPECT_FALSE(rest.interrupted);
    EXPECT_LE(rest.epsilon, first.plan.epsilon * (1 + 1e-9));
}

TEST_F(Arrival, OfAnAgentWithACheckpointIsRefusedWhateverTheHistorySays) {
    const TrainConfig first = waiting("run");
    (void)stopped(first, 20, 5);
    const fs::path folder = checkpoint_folders(path("run")).front();
    write_file_atomically(folder / "agent-4.checkpoint", checkpoints_in(folder).read(3));
    expect_contains(message_of<NetworkError>([&] { (void)run(joined(first), 6); }),
                    "agent 4 is to join, but has taken part already");
}

TEST_F(Arrival, IsRefusedWithMechanismsThatSendEveryNeighbourItsOwn) {
    expect_contains(message_of<ConfigError>([&] { (void)run(waiting("zip", "zip-dl"), 5); }),
                    "own copy");
    TrainConfig all_there = waiting("more");
    expect_contains(message_of<ConfigError>([&] { (void)run(all_there, 6); }),
                    "agents can wait in `sotto train` only");
}

TEST(KeepMembers, MixesOverThoseWhoStay) {
    TrainConfig config = test::quadratic_config(5, "ldp", 10);
    config.graph.topology.topology = Topology::complete;
    const BuiltTopography whole = build_topography(config.graph, 10);
    const BuiltTopography rest = keep_members(whole, config, {5, {0, 3, 4}});
    EXPECT_EQ(rest.topography.graph.agents(), 3);
    EXPECT_EQ(rest.topography.graph.edges().size(), 3U);
    expect_contains(rest.description, ", without 1,2");
    EXPECT_EQ(keep_members(whole, config, Membership::everybody(5)).description, whole.description);
}

TEST(KeepMembers, RefusesWhatNamesThoseWhoHaveLeft) {
    TrainConfig config = test::quadratic_config(5, "ldp", 10);
    config.graph.topology.topology = Topology::complete;
    const BuiltTopography whole = build_topography(config.graph, 10);
    const auto refusal = [&](auto&& change) {
        TrainConfig changed = config;
        change(changed);
        return message_of<ConfigError>([&] { (void)keep_members(whole, changed, {5, {0, 3, 4}}); });
    };
    expect_contains(refusal([](TrainConfig& c) { c.graph.mixing = "w.npy"; }), "--mixing FILE");
    expect_contains(refusal([](TrainConfig& c) { c.plan.plan_file = "p.json"; }), "--plan");
    expect_contains(refusal([](TrainConfig& c) { c.record_views = {0}; }), "--record-view");
    expect_contains(refusal([](TrainConfig& c) { c.record_wire = true; }), "--record-view");
}

TEST(AgreedGraph, IsOfWhatEveryAgentKnows) {
    const TemporaryFolder folder;
    for (int u = 0; u < 5; ++u)
        folder.write(fmt::format("near{}", u), fmt::format("{}\n{}\n", (u + 1) % 5, (u + 4) % 5));
    const auto network = make_memory_network(5, 1);
    const Graph graph = agree_on_graph(*network, folder.path("near%r"));
    EXPECT_EQ(graph.agents(), 5);
    EXPECT_EQ(graph.edges().size(), 5U);
    for (int u = 0; u < 5; ++u) EXPECT_TRUE(graph.hears(u, (u + 1) % 5));
}

TEST(AgreedGraph, IsNoneWhereAgentsContradictEachOther) {
    const TemporaryFolder folder;
    for (int u = 0; u < 3; ++u) folder.write(fmt::format("near{}", u), u == 2 ? "" : "2\n");
    const auto network = make_memory_network(3, 1);
    expect_contains(
        message_of<DataError>([&] { (void)agree_on_graph(*network, folder.path("near%r")); }),
        "agent 0 names agent 2, which does not name it");
}

TEST(AgreedGraph, TravelsAsItIs) {
    const AgentBlocks blocks(5, 2);  // agents 0 and 1; 2 to 4
    const std::vector<NeighbourList> lists{{0, 4}, {}, {2}};
    EXPECT_EQ(unpack_neighbour_lists(pack_neighbour_lists(lists), 1, blocks), lists);
}

}  // namespace
}  // namespace sotto
