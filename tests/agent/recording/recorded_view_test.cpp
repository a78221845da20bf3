#include "sotto/agent/recording/recorded_view.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <tuple>

#include "agent/recording/recorded_job.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::record_five;
using test::recorded_agents;
using test::recorded_dimension;
using test::recorded_rounds;
using test::TemporaryFolder;

/// What each agent is about to send, told by the trainer: one matrix an exchange and receiver.
class Messages final : public RoundObserver {
  public:
    void on_message(long round, std::size_t local, const OwnRound& own) override {
        sent[{round, own.gossip_step, static_cast<int>(local), own.receiver}] = own.message;
    }
    std::map<std::tuple<long, int, int, int>, Eigen::VectorXd> sent;
};

class RecordedViews : public ::testing::TestWithParam<test::RecordedCase> {};

TEST_P(RecordedViews, AreTheEquationsOfARoundAndOneAnother) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record_five(GetParam(), folder);
    std::vector<int> all(recorded_agents);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(test::wrong_recordings(all, folder, made), "");
}

TEST_P(RecordedViews, HoldWhatTheTrainerSentAndWhatItWasMadeOf) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    test::Recorder first_steps(recorded_dimension, recorded_agents);
    Messages messages;
    const test::RecordedRun made = record_five(GetParam(), folder, {&first_steps, &messages});
    std::size_t compared = 0;
    for (int u = 0; u < recorded_agents; ++u) {
        const RecordedView view = read_recorded_view(test::view_file(folder, u));
        const auto neighbours = made.topography.graph.neighbours(u);
        EXPECT_EQ(view.header.agent, u);
        EXPECT_EQ(view.header.agents, recorded_agents);
        EXPECT_EQ(view.header.dimension, recorded_dimension);
        EXPECT_EQ(view.header.gossip_steps, GetParam().gossip_steps);
        EXPECT_EQ(view.header.key_epoch, 0U);
        EXPECT_TRUE(std::ranges::equal(view.header.neighbours, neighbours));
        EXPECT_EQ(view.header.plan_hash, to_hex(made.plan.hash()));
        for (const RecordedRound& record : view.records) {
            for (std::size_t o = 0; o < view.header.outputs.size(); ++o, ++compared)
                EXPECT_TRUE(record.message.col(static_cast<Eigen::Index>(o)) ==
                            messages.sent.at(
                                {record.round, record.gossip_step, u, view.header.outputs[o]}));
            if (record.gossip_step > 0) continue;
            const auto t = static_cast<std::size_t>(record.round);
            EXPECT_TRUE(record.before == first_steps.recording.before[t].col(u));
            EXPECT_TRUE(record.gradient == first_steps.recording.gradients[t].col(u));
        }
    }
    EXPECT_EQ(compared, messages.sent.size());
}

TEST_P(RecordedViews, ChangeNothingOfTheRun) {
    const TemporaryFolder temporary;
    const test::RecordedRun made = record_five(GetParam(), temporary.path("views"));
    const auto network = make_memory_network(recorded_agents, 2);
    EXPECT_TRUE(test::observe_rounds(*network, made.topography, made.plan, made.run, {}) ==
                made.models);
}

INSTANTIATE_TEST_SUITE_P(All,
                         RecordedViews,
                         ::testing::ValuesIn(test::recorded_cases()),
                         [](const auto& entry) { return entry.param.label; });

TEST(RecordedView, OfSecureSumsDiffersFromThePlainRunByFixedPointRoundingOnly) {
    const TemporaryFolder temporary;
    const Eigen::MatrixXd plain = record_five(test::of_messages, temporary.path("plain")).models;
    const Eigen::MatrixXd sums =
        record_five({"Sums", "decor", 1, true}, temporary.path("sums")).models;
    EXPECT_FALSE(sums == plain);
    // At most half a step a neighbour and round, doubles beside.
    EXPECT_LE((sums - plain).cwiseAbs().maxCoeff(),
              recorded_rounds * recorded_agents * 0x1p-41 * 1.1);
}

TEST(RecordedView, NamesReceiversOfMessagesOfTheirOwn) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record_five({"ZipDl", "zip-dl"}, folder);
    for (int u = 0; u < recorded_agents; ++u) {
        const auto closed = made.topography.graph.closed_neighbourhood(u);
        const RecordedView view = read_recorded_view(test::view_file(folder, u));
        EXPECT_TRUE(std::ranges::equal(view.header.outputs, closed));
        WireHeader header;
        (void)test::read_wire(test::wire_file(folder, u), header);
        EXPECT_EQ(header.outputs, view.header.neighbours);
        // Messages to different receivers differ.
        const auto& message = view.records.front().message;
        for (Eigen::Index o = 1; o < message.cols(); ++o)
            EXPECT_FALSE(message.col(o) == message.col(o - 1));
    }
}

TEST(RecordedView, IsOfTheAgentsNamedOnly) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const std::vector<int> local{0, 1};
    const std::vector<int> recorded{1, 2};
    const ViewRecorder recorder(
        folder, local, recorded, graph, test::silent_plan(3), ViewRecorder::Setup{3});
    EXPECT_FALSE(fs::exists(folder / "0"));
    EXPECT_TRUE(fs::exists(folder / "1"));
    EXPECT_FALSE(fs::exists(folder / "2"));
}

TEST(ViewRecorder, WithoutTheEndOfTheRunLeavesAnUnfinishedFile) {
    const TemporaryFolder temporary;
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    const std::vector<int> local{0, 1};
    {
        const ViewRecorder recorder(temporary.path("views"),
                                    local,
                                    local,
                                    graph,
                                    test::silent_plan(2),
                                    ViewRecorder::Setup{3});
    }
    EXPECT_THROW((void)read_recorded_view(fs::path(temporary.path("views")) / "1" / "view.bin"),
                 DataError);
}

}  // namespace
}  // namespace sotto
