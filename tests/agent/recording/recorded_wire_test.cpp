#include "sotto/agent/recording/recorded_wire.hpp"

#include <gtest/gtest.h>

#include "agent/recording/recorded_job.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::record_five;
using test::TemporaryFolder;

/// Agent 1 between 0 and 2; it records alone.
const Graph path_of_three = Graph::from_edges(3, {{0, 1}, {1, 2}});
constexpr int local[] = {1};

/// What agent 1 says it is about to send.
OwnRound own_round(int receiver, int gossip_step, const Eigen::VectorXd& message, bool sent) {
    static const Eigen::VectorXd nothing;
    return {receiver, gossip_step, 0.5, message, nothing, nothing, message, {}, sent};
}

TEST(WireRecorder, WritesWhatIsSentAndZerosWhereNobodyIsSentAnything) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("wire");
    const NoisePlan plan = test::silent_plan(3);
    WireRecorder recorder(folder, local, path_of_three, plan, {2, WireContent::messages, 2, 7});
    const Eigen::Vector2d first(1, -2), second(3, 4);
    recorder.on_message(5, 0, own_round(NoiseRow::all_receivers, 0, first, true));
    recorder.on_mixed(5, 0);
    recorder.on_message(5, 0, own_round(NoiseRow::all_receivers, 1, second, false));
    recorder.on_mixed(5, 0);
    recorder.finish();

    WireReader reader(folder / "1" / "messages.bin");
    EXPECT_EQ(reader.header().agent, 1);
    EXPECT_EQ(reader.header().key_epoch, 7U);
    EXPECT_EQ(reader.header().outputs, std::vector<int>{NoiseRow::all_receivers});
    EXPECT_EQ(reader.records(), 2U);
    WireRecord record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.round, 5);
    EXPECT_EQ(record.gossip_step, 0);
    EXPECT_EQ(record.step_size, 0.5);
    EXPECT_EQ(record.messages, first);
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.gossip_step, 1);
    EXPECT_TRUE(record.messages.isZero(0));
    EXPECT_FALSE(reader.next(record));
}

TEST(WireRecorder, LeavesOutTheCopyAnAgentKeeps) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("wire");
    NoisePlan plan = test::silent_plan(3);
    plan.rows = {{1, 0, {}, {}}, {1, 1, {}, {}}, {1, 2, {}, {}}};
    WireRecorder recorder(folder, local, path_of_three, plan, {1, WireContent::messages, 1, 0});
    for (int receiver = 0; receiver < 3; ++receiver)
        recorder.on_message(
            0, 0, own_round(receiver, 0, Eigen::VectorXd::Constant(1, 10 + receiver), true));
    recorder.on_mixed(0, 0);
    recorder.finish();

    WireReader reader(folder / "1" / "messages.bin");
    EXPECT_EQ(reader.header().outputs, (std::vector<int>{0, 2}));
    WireRecord record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.messages, Eigen::RowVector2d(10, 12));
}

TEST(WireRecorder, WritesSharesWordForWord) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("wire");
    WireRecorder recorder(
        folder, local, path_of_three, test::silent_plan(3), {3, WireContent::shares, 1, 0});
    recorder.on_message(
        0, 0, own_round(NoiseRow::all_receivers, 0, Eigen::Vector3d(1, 2, 3), true));
    const std::vector<std::uint64_t> words{1, 0x7ff8000000000000, 3, 4, 5, ~std::uint64_t{0}};
    recorder.on_share(0, 0, 0, 0, 0, std::span(words).first(2));
    recorder.on_share(0, 0, 0, 0, 2, std::span(words).subspan(2, 1));
    recorder.on_share(0, 0, 0, 1, 0, std::span(words).last(3));
    recorder.on_mixed(0, 0);
    recorder.finish();

    WireReader reader(folder / "1" / "messages.bin");
    EXPECT_EQ(reader.header().outputs, (std::vector<int>{0, 2}));
    WireRecord record;
    ASSERT_TRUE(reader.next(record));
    EXPECT_EQ(record.messages.size(), 0);
    ASSERT_EQ(record.shares.rows(), 3);
    ASSERT_EQ(record.shares.cols(), 2);
    EXPECT_TRUE(std::equal(words.begin(), words.end(), record.shares.data()));
}

TEST(DamagedWire, OfMessagesHoldsFiniteValuesOnly) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    (void)record_five(test::of_messages, folder);
    std::string content = read_file(test::wire_file(folder, 2));
    content.replace(content.find('\n') + 1 + 80, 8, std::string(8, '\xff'));
    WireReader reader(temporary.write("damaged.bin", content));
    WireRecord record;
    EXPECT_THROW((void)reader.next(record), DataError);
}

}  // namespace
}  // namespace sotto
