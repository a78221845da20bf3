#include "agent/recording/recorded_view.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "agent/agent_fixtures.hpp"
#include "agent/recording/recorded_job.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

using fs::perms;
using test::record_five;
using test::recorded_agents;
using test::recorded_dimension;
using test::recorded_rounds;
using test::TemporaryFolder;

/// A path of three agents, and agent 2 by itself.
const Graph path_without_two = Graph::from_edges(4, {{0, 1}, {1, 3}});

TEST(RecordingHeader, SaysWhoseRecordingItIs) {
    const NoisePlan plan = test::silent_plan(4);
    const RecordingHeader header = recording_header(1, path_without_two, plan, 7, 3, 5);
    EXPECT_EQ(header.agent, 1);
    EXPECT_EQ(header.agents, 4);
    EXPECT_EQ(header.dimension, 7);
    EXPECT_EQ(header.neighbours, (std::vector<int>{0, 3}));
    EXPECT_EQ(header.gossip_steps, 3);
    EXPECT_EQ(header.key_epoch, 5U);
    EXPECT_EQ(header.plan_hash, to_hex(plan.hash()));
    EXPECT_EQ(header.outputs, std::vector<int>{NoiseRow::all_receivers});
    EXPECT_EQ(header.column_of(NoiseRow::all_receivers), 0);
    EXPECT_EQ(header.column_of(3), -1);
}

TEST(RecordingHeader, NamesTheReceiversOfMessagesOfTheirOwn) {
    NoisePlan plan = test::silent_plan(4);
    plan.rows = {{1, 0, {}, {}}};
    const RecordingHeader header = recording_header(1, path_without_two, plan, 7, 1, 0);
    EXPECT_EQ(header.outputs, (std::vector<int>{0, 1, 3}));
    EXPECT_EQ(header.column_of(3), 2);
    EXPECT_EQ(header.column_of(2), -1);
    EXPECT_EQ(header.column_of(NoiseRow::all_receivers), -1);
}

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

TEST(PrivateFolder, IsMadeForItsOwnerOnlyAndMayBeThere) {
    const TemporaryFolder temporary;
    const fs::path folder = private_folder(temporary.path("views/deep"), 3);
    EXPECT_EQ(folder, fs::path(temporary.path("views/deep")) / "3");
    EXPECT_EQ(fs::status(folder).permissions(), perms::owner_all);
    fs::permissions(folder, perms::all);
    EXPECT_EQ(private_folder(temporary.path("views/deep"), 3), folder);
    EXPECT_EQ(fs::status(folder).permissions(), perms::owner_all);
    const std::string file = temporary.write("file", "");
    EXPECT_THROW((void)private_folder(file, 3), ConfigError);
}

TEST(PrivateFile, IsNewForItsOwnerOnlyAndHoldsWhatWasAppended) {
    const TemporaryFolder temporary;
    const fs::path path = temporary.path("file");
    PrivateFile file(path);
    EXPECT_TRUE(file.open());
    file.append("some", 4);
    file.flush();
    EXPECT_EQ(read_file(path), "some");
    file.append("more", 4);
    file.close();
    EXPECT_FALSE(file.open());
    EXPECT_EQ(read_file(path), "somemore");
    EXPECT_EQ(fs::status(path).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_THROW(PrivateFile{path}, ConfigError);
    EXPECT_THROW(PrivateFile{temporary.path("nowhere/file")}, ConfigError);
}

TEST(PrivateFile, IsWhatEveryRecordingIsWrittenTo) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record_five(test::of_messages, folder);
    const auto rings = test::rings_of_five(made.plan);
    record_seeds(folder, made.plan, rings[2]);
    using fs::perms;
    for (const char* file : {"2/view.bin", "2/seeds.json", "wire/2/messages.bin"})
        EXPECT_EQ(fs::status(folder / file).permissions(), perms::owner_read | perms::owner_write)
            << file;
    EXPECT_EQ(fs::status(folder / "2").permissions(), perms::owner_all);
    EXPECT_EQ(fs::status(folder / "wire" / "2").permissions(), perms::owner_all);
    // Never into another run's files.
    EXPECT_THROW((void)record_five(test::of_messages, folder), ConfigError);
    EXPECT_THROW(record_seeds(folder, made.plan, rings[2]), ConfigError);
}

// Both kinds of recordings through their readers: no damaged file is read.

/// A recording of two gossip steps a round with secure sums, and what its reader says of it.
template <class Reader>
class DamagedRecording : public ::testing::Test {
  protected:
    static constexpr bool view = std::is_same_v<Reader, RecordedViewReader>;
    void SetUp() override {
        const test::RecordedCase entry{"Sums", "ldp", 2, true};
        (void)record_five(entry, folder_);
        content_ = read_file(view ? test::view_file(folder_, 2) : test::wire_file(folder_, 2));
        body_ = content_.find('\n') + 1;
    }
    std::string why(const std::string& content) {
        const std::string file = temporary_.write("damaged.bin", content);
        try {
            Reader reader(file);
            std::conditional_t<view, RecordedRound, WireRecord> record;
            while (reader.next(record)) {
            }
        } catch (const DataError& error) {
            EXPECT_NE(std::string(error.what()).find("damaged.bin"), std::string::npos);
            return error.what();
        }
        return "it was read";
    }
    std::string changed(std::size_t at, const std::string& bytes) {
        std::string copy = content_;
        copy.replace(at, bytes.size(), bytes);
        return why(copy);
    }
    std::string changed(std::size_t at, double value) {
        return changed(at, std::string(reinterpret_cast<const char*>(&value), sizeof value));
    }
    /// The header's text changed, and padded to the length it had.
    std::string with_header(const std::string& from, const std::string& to) {
        std::string header = content_.substr(16, body_ - 16);
        const std::size_t length = header.size();
        const std::size_t at = header.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        header.replace(at, from.size(), to);
        header.erase(header.find_last_not_of(" \n") + 1);
        EXPECT_LE(header.size(), length);
        header.resize(length, ' ');
        return why(content_.substr(0, 16) + header + content_.substr(body_));
    }
    /// Bytes of one record.
    [[nodiscard]] std::size_t record_size() const {
        return (content_.size() - body_ - 16) / (2 * recorded_rounds);
    }
    static void expect(const std::string& why, const std::string& part) {
        EXPECT_NE(why.find(part), std::string::npos) << why;
    }
    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path("views");
    std::string content_;
    std::size_t body_ = 0;
};

using Readers = ::testing::Types<RecordedViewReader, WireReader>;
TYPED_TEST_SUITE(DamagedRecording, Readers, );

TYPED_TEST(DamagedRecording, IsRefusedWhereverItIsCut) {
    const std::string& content = this->content_;
    EXPECT_EQ(this->why(content), "it was read");
    const std::size_t size = content.size();
    for (const std::size_t kept : {std::size_t{0},
                                   std::size_t{7},
                                   std::size_t{8},
                                   std::size_t{15},
                                   std::size_t{16},
                                   std::size_t{40},
                                   std::size_t{200},
                                   size / 2,
                                   size - 1,
                                   size - 8,
                                   size - 16,
                                   size - 17})
        EXPECT_NE(this->why(content.substr(0, kept)), "it was read") << kept;
    this->expect(this->why(content.substr(0, size - 16)), "no end after 8 whole records");
    this->expect(this->why(content.substr(0, size - 30)), "cut short in record 7");
    EXPECT_NE(this->why(content + "more"), "it was read");
}

TYPED_TEST(DamagedRecording, IsRefusedForItsFrame) {
    this->expect(this->changed(0, "X"), "does not start");
    this->expect(this->changed(8, std::string(8, '\xff')), "header is cut short");
    this->expect(this->changed(this->content_.size() - 8, "\x05"), "counts 5 records");
    this->expect(this->changed(this->content_.size() - 16, "X"), "SOTTOEND");
    EXPECT_THROW(TypeParam(this->folder_ / "nothing"), DataError);
    EXPECT_THROW(TypeParam{this->folder_}, DataError);
    // The other kind of recording.
    std::string other = this->content_;
    other.replace(0, 8, TestFixture::view ? "SOTTOWR1" : "SOTTOVW1");
    this->expect(this->why(other), "does not start");
}

TYPED_TEST(DamagedRecording, IsRefusedForItsHeader) {
    const auto refused = [this](const std::string& from, const std::string& to) {
        return this->with_header(from, to);
    };
    EXPECT_EQ(refused("{", "{ "), "it was read");
    this->expect(refused("\"format\":\"sotto-", "\"format\":\"other-"), "format is");
    this->expect(refused("\"version\":", "\"version\":7"), "version is 7");
    this->expect(refused("{", "["), "header cannot be read");
    this->expect(refused("\"agent\":2", "\"agent\":9"), "agent 9 of 5");
    this->expect(refused("\"agent\":2", "\"agent\":-1"), "agent -1 of 5");
    this->expect(refused("\"dimension\":20000", "\"dimension\":20001"), "values per record");
    this->expect(refused("\"dimension\":20000", "\"dimension\":0"), "dimension 0");
    this->expect(refused("\"dimension\":20000", "\"dimension\":9e9"), "whole number");
    this->expect(refused("\"gossip_steps\":2", "\"gossip_steps\":0"), "0 gossip steps");
    this->expect(refused("\"gossip_steps\":2", "\"gossip_steps\":3"), "not whole rounds of 3");
    this->expect(refused("\"gossip_steps\":2", "\"gossip_steps\":1"), "gossip step 1");
    this->expect(refused("\"neighbours\":[", "\"neighbours\":[2,"), "neighbour 2 of agent 2");
    this->expect(refused("\"neighbours\":[", "\"neighbours\":[9,"), "neighbour 9 of agent 2");
    this->expect(refused("\"outputs\":[", "\"outputs\":[0,0,"), "neither for all receivers nor");
    this->expect(refused("\"outputs\":[", "\"other\":["), "outputs");
    this->expect(refused(TestFixture::view ? "\"sum\"" : "\"shares\"", "\"mud\""), "mud");
    // Sizes that nothing is taken for: 2^36 values are announced, and not there.
    this->expect(refused("\"dimension\":20000", "\"dimension\":68719476736"), "values per record");
    this->expect(refused("\"dimension\":20000", "\"dimension\":68719476737"), "dimension 687");
}

TYPED_TEST(DamagedRecording, IsRefusedForRoundsOutOfOrder) {
    const std::size_t first = this->body_;
    const std::size_t size = this->record_size();
    EXPECT_EQ(this->changed(first, 0.0), "it was read");
    this->expect(this->changed(first, 0.5), "record 0 is of round 0.5");
    this->expect(this->changed(first, -1.0), "record 0 is of round -1");
    this->expect(this->changed(first, std::nan("")), "record 0 is of round nan");
    this->expect(this->changed(first, 7.0), "record 1 is of round 0, gossip step 1, after round 7");
    this->expect(this->changed(first + 8, 1.0), "record 0 is of round 0, gossip step 1");
    this->expect(this->changed(first + size + 8, 0.0), "record 1 is of round 0, gossip step 0");
    this->expect(this->changed(first + 2 * size, 2.0), "record 2 is of round 2");
    this->expect(this->changed(first + 3 * size, 2.0), "record 3 is of round 2");
    this->expect(this->changed(first + 16, std::nan("")), "not finite");
    // What stands in a record is a number; masked words are not.
    const std::string after = this->changed(first + size + 80, std::string(8, '\xff'));
    if (TestFixture::view)
        this->expect(after, "round 0, gossip step 1 holds a value that is not finite");
    else
        EXPECT_EQ(after, "it was read");
}

TEST(CopyOrZero, CopiesWhatIsThere) {
    double target[] = {1, 2, 3, 4};
    copy_or_zero(Eigen::Vector3d(7, 8, 9), target, 3);
    EXPECT_TRUE(std::ranges::equal(target, std::vector<double>{7, 8, 9, 4}));
    copy_or_zero(Eigen::VectorXd(), target + 1, 3);
    EXPECT_TRUE(std::ranges::equal(target, std::vector<double>{7, 0, 0, 0}));
}

}  // namespace
}  // namespace sotto
