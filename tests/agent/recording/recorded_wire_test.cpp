#include "agent/recording/recorded_wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_job.hpp"
#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"

namespace sotto {
namespace {

using test::record_five;
using test::recorded_agents;
using test::TemporaryFolder;

namespace fs = std::filesystem;

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

TEST(WireRecorder, WritesWhatMessagesChangeWhereSomeAreMissing) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("wire");
    const NoisePlan plan = test::silent_plan(3);
    WireRecorder recorder(folder, local, path_of_three, plan, {2, WireContent::steps, 3, 7, 6});
    const Eigen::Vector2d before(1, 2), message(0.5, 3), mixed(9, 9);
    const Eigen::VectorXd nothing;
    const auto say = [&](long round, bool sent, std::vector<long> owed) {
        recorder.on_message(
            round,
            0,
            {NoiseRow::all_receivers, 0, 0.5, before, nothing, nothing, message, {}, sent, owed});
        recorder.on_mixed(round, 0);
        recorder.on_message(round, 0, own_round(NoiseRow::all_receivers, 1, mixed, sent));
        recorder.on_mixed(round, 0);
    };
    say(0, true, {});
    say(1, false, {});     // silent
    say(4, true, {2, 3});  // behind
    recorder.finish();

    WireReader reader(folder / "1" / "messages.bin");
    EXPECT_EQ(reader.header().rounds, 6);
    ASSERT_EQ(reader.records(), 6U);
    const std::vector<std::vector<double>> holds{
        {2, 0, 0, 0, 0, 0}, {}, {}, {}, {0, 2, 1, 1, 2, 0}, {}};
    WireRecord record;
    for (std::size_t t = 0; t < holds.size(); ++t) {
        ASSERT_TRUE(reader.next(record));
        EXPECT_EQ(record.round, static_cast<long>(t));
        if (holds[t].empty()) {
            EXPECT_TRUE(record.holds.isZero(0)) << t;
            continue;
        }
        EXPECT_EQ(std::vector<double>(record.holds.begin(), record.holds.end()), holds[t]);
        // The message of round 4 shows the sum of both.
        EXPECT_EQ(record.messages, (t == 0 ? 1 : 2) * (before - message));
    }
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

class RecordedSeeds : public ::testing::Test {
  protected:
    void SetUp() override {
        const Topography topography = test::topography_of(test::of_messages, recorded_agents);
        plan_ = test::plan_of({"", "decor", {}}, topography, test::uneven_limits(recorded_agents));
        rings_ = test::rings_of_five(plan_);
        for (const KeyRing& ring : rings_) record_seeds(folder_, plan_, ring);
    }
    [[nodiscard]] fs::path file(int agent) const {
        return folder_ / std::to_string(agent) / "seeds.json";
    }
    /// Why a file in which `from` was replaced is refused.
    std::string why(const std::string& from, const std::string& to) {
        std::string text = read_file(file(2));
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        return why(text);
    }
    std::string why(const std::string& text) {
        const std::string damaged = temporary_.write("damaged.json", text);
        try {
            (void)read_recorded_seeds(damaged, plan_);
        } catch (const DataError& error) {
            EXPECT_NE(std::string(error.what()).find("damaged.json"), std::string::npos);
            return error.what();
        }
        return "they were read";
    }
    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path("views");
    NoisePlan plan_;
    std::vector<KeyRing> rings_;
};

TEST_F(RecordedSeeds, AreExactlyThoseOfTheAgent) {
    for (const KeyRing& ring : rings_) {
        std::vector<int> groups;
        for (std::size_t g = 0; g < plan_.groups.size(); ++g)
            if (std::ranges::count(plan_.groups[g].members, ring.agent()) > 0)
                groups.push_back(static_cast<int>(g));
        const KeyRing read = read_recorded_seeds(file(ring.agent()), plan_);
        EXPECT_EQ(read.agent(), ring.agent());
        EXPECT_EQ(read.groups(), groups);
        for (const int group : groups) EXPECT_TRUE(read.seed(group) == ring.seed(group));
    }
}

TEST_F(RecordedSeeds, OfOtherGroupsAreReadToo) {
    // A seed that leaked: whoever reads the file decides what that means.
    KeyRing ring(2);
    for (const auto& other : rings_)
        for (const int group : other.groups())
            if (!ring.holds(group)) ring.add(group, other.seed(group).clone());
    const std::filesystem::path folder = temporary_.path("leaked");
    record_seeds(folder, plan_, ring);
    const KeyRing read = read_recorded_seeds(folder / "2" / "seeds.json", plan_);
    EXPECT_EQ(read.groups(), ring.groups());
    EXPECT_GT(read.groups().size(), rings_[2].groups().size());
}

TEST_F(RecordedSeeds, AreRefusedForWhatTheyHold) {
    const auto expect = [](const std::string& why, const std::string& part) {
        EXPECT_NE(why.find(part), std::string::npos) << why;
    };
    EXPECT_EQ(why(read_file(file(2))), "they were read");
    expect(why("sotto-seeds", "sotto-views"), "another format");
    expect(why("\"plan_hash\": \"", "\"plan_hash\": \"0"), "another noise plan");
    expect(why("\"agent\": 2", "\"agent\": 5"), "agent 5 of 5");
    expect(why("\"agent\": 2", "\"agent\": -1"), "agent -1 of 5");
    expect(why("\"agent\": 2", "\"agent\": 3"), "to which agent 3 belongs, is missing");
    const int group = rings_[2].groups().front();
    expect(why(fmt::format("\"group\": {}", group), "\"group\": 4000000000"), "whole number");
    expect(why(fmt::format("\"group\": {}", group), "\"group\": 77"), "seed of group 77 after -1");
    expect(why("\"members\": [", "\"members\": [0,"), "members of group");
    expect(why("\"seed\": \"", "\"seed\": \"0"), "64 hexadecimal digits");
    const std::string seed = to_hex(rings_[2].seed(group).bytes());
    expect(why(seed, "x" + seed.substr(1)), "64 hexadecimal digits");
    expect(why(seed, seed.substr(1)), "64 hexadecimal digits");
    expect(why("\"seed\": \"", "\"seed\": 5, \"other\": \""), "must be a text");
    auto fewer = nlohmann::json::parse(read_file(file(2)));
    fewer["seeds"].erase(fewer["seeds"].size() - 1);
    expect(why(fewer.dump()), "to which agent 2 belongs, is missing");
    auto twice = nlohmann::json::parse(read_file(file(2)));
    twice["seeds"].push_back(twice["seeds"].back());
    expect(why(twice.dump()), "groups ascend");
    expect(why("no JSON"), "it is no JSON");
    expect(why("[1, 2]"), "damaged.json");
    expect(why(std::string(100, '[')), "nested");
    EXPECT_THROW((void)read_recorded_seeds(folder_ / "nothing", plan_), DataError);
}

}  // namespace
}  // namespace sotto
