#include "sotto/agent/recorded_view.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <type_traits>

#include "agent/agent_fixtures.hpp"
#include "learn/test_data.hpp"
#include "mpi/recording_fixtures.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::sotto::testing::TemporaryFolder;

constexpr int agents = 5;
constexpr Eigen::Index dimension = 20000;  // delivered in pieces
constexpr long rounds = 4;

std::vector<KeyRing> rings_of(const NoisePlan& plan) {
    const auto network = make_memory_network(agents, 1);
    return distribute_seeds(*network, plan, 5);
}

/// What each agent is about to send, told by the trainer: one matrix an exchange and receiver.
class Messages final : public RoundObserver {
  public:
    void on_message(long round, std::size_t local, const OwnRound& own) override {
        sent[{round, own.gossip_step, static_cast<int>(local), own.receiver}] = own.message;
    }
    std::map<std::tuple<long, int, int, int>, Eigen::VectorXd> sent;
};

test::NoiseRun run_of(int threads = 2) {
    test::NoiseRun run;
    run.rounds = rounds;
    run.dimension = dimension;
    run.threads = threads;
    return run;
}

test::RecordedRun record(const test::RecordedCase& entry,
                         const fs::path& folder,
                         std::vector<RoundObserver*> observers = {}) {
    const auto network = make_memory_network(agents, 2);
    return test::record_run(*network, entry, folder, run_of(), std::move(observers));
}

const test::RecordedCase of_messages{"Messages", "decor"};

class RecordedViews : public ::testing::TestWithParam<test::RecordedCase> {};

TEST_P(RecordedViews, AreTheEquationsOfARoundAndOneAnother) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record(GetParam(), folder);
    std::vector<int> all(agents);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(test::wrong_recordings(all, folder, made), "");
}

TEST_P(RecordedViews, HoldWhatTheTrainerSentAndWhatItWasMadeOf) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    test::Recorder first_steps(dimension, agents);
    Messages messages;
    const test::RecordedRun made = record(GetParam(), folder, {&first_steps, &messages});
    std::size_t compared = 0;
    for (int u = 0; u < agents; ++u) {
        const RecordedView view = read_recorded_view(test::view_file(folder, u));
        const auto neighbours = made.topography.graph.neighbours(u);
        EXPECT_EQ(view.header.agent, u);
        EXPECT_EQ(view.header.agents, agents);
        EXPECT_EQ(view.header.dimension, dimension);
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
    const test::RecordedRun made = record(GetParam(), temporary.path("views"));
    const auto network = make_memory_network(agents, 2);
    EXPECT_TRUE(test::observe_rounds(*network, made.topography, made.plan, made.run, {}) ==
                made.models);
}

INSTANTIATE_TEST_SUITE_P(All,
                         RecordedViews,
                         ::testing::ValuesIn(test::recorded_cases()),
                         [](const auto& entry) { return entry.param.label; });

TEST(RecordedView, OfSecureSumsDiffersFromThePlainRunByFixedPointRoundingOnly) {
    const TemporaryFolder temporary;
    const Eigen::MatrixXd plain = record(of_messages, temporary.path("plain")).models;
    const Eigen::MatrixXd sums = record({"Sums", "decor", 1, true}, temporary.path("sums")).models;
    EXPECT_FALSE(sums == plain);
    // At most half a step a neighbour and round, doubles beside.
    EXPECT_LE((sums - plain).cwiseAbs().maxCoeff(), rounds * agents * 0x1p-41 * 1.1);
}

TEST(RecordedView, NamesReceiversOfMessagesOfTheirOwn) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record({"ZipDl", "zip-dl"}, folder);
    for (int u = 0; u < agents; ++u) {
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

TEST(RecordedView, CanBeReadByItsOwnerOnly) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const test::RecordedRun made = record(of_messages, folder);
    const auto rings = rings_of(made.plan);
    record_seeds(folder, made.plan, rings[2]);
    using fs::perms;
    for (const char* file : {"2/view.bin", "2/seeds.json", "wire/2/messages.bin"})
        EXPECT_EQ(fs::status(folder / file).permissions(), perms::owner_read | perms::owner_write)
            << file;
    EXPECT_EQ(fs::status(folder / "2").permissions(), perms::owner_all);
    EXPECT_EQ(fs::status(folder / "wire" / "2").permissions(), perms::owner_all);
    // Never into another run's files.
    EXPECT_THROW((void)record(of_messages, folder), ConfigError);
    EXPECT_THROW(record_seeds(folder, made.plan, rings[2]), ConfigError);
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

class RecordedSeeds : public ::testing::Test {
  protected:
    void SetUp() override {
        const Topography topography = test::topography_of(of_messages, agents);
        plan_ = test::plan_of({"", "decor", {}}, topography, test::uneven_limits(agents));
        rings_ = rings_of(plan_);
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
    expect(why("\"seed\": \"", "\"seed\": 5, \"other\": \""), "string");
    auto fewer = nlohmann::json::parse(read_file(file(2)));
    fewer["seeds"].erase(fewer["seeds"].size() - 1);
    expect(why(fewer.dump()), "to which agent 2 belongs, is missing");
    auto twice = nlohmann::json::parse(read_file(file(2)));
    twice["seeds"].push_back(twice["seeds"].back());
    expect(why(twice.dump()), "groups ascend");
    expect(why("no JSON"), "parse error");
    expect(why("[1, 2]"), "damaged.json");
    expect(why(std::string(100, '[')), "nested");
    EXPECT_THROW((void)read_recorded_seeds(folder_ / "nothing", plan_), DataError);
}

/// A recording of two gossip steps a round with secure sums, and what its reader says of it.
template <class Reader>
class DamagedRecording : public ::testing::Test {
  protected:
    static constexpr bool view = std::is_same_v<Reader, RecordedViewReader>;
    void SetUp() override {
        const test::RecordedCase entry{"Sums", "ldp", 2, true};
        (void)record(entry, folder_);
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
        return (content_.size() - body_ - 16) / (2 * rounds);
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
    this->expect(refused("\"format\":\"sotto-", "\"format\":\"other-"), "another format");
    this->expect(refused("\"version\":", "\"version\":7"), "only version");
    this->expect(refused("{", "["), "header cannot be read");
    this->expect(refused("\"agent\":2", "\"agent\":9"), "agent 9 of 5");
    this->expect(refused("\"agent\":2", "\"agent\":-1"), "agent -1 of 5");
    this->expect(refused("\"dimension\":20000", "\"dimension\":20001"), "values a record");
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
    this->expect(refused("\"dimension\":20000", "\"dimension\":68719476736"), "values a record");
    this->expect(refused("\"dimension\":20000", "\"dimension\":68719476737"), "dimension 687");
}

TYPED_TEST(DamagedRecording, IsRefusedForRoundsOutOfOrder) {
    const std::size_t first = this->body_;
    const std::size_t size = this->record_size();
    EXPECT_EQ(this->changed(first, 0.0), "it was read");
    this->expect(this->changed(first, 0.5), "record 0 is of round 0.5");
    this->expect(this->changed(first, -1.0), "record 0 is of round -1");
    this->expect(this->changed(first, not_a_number), "record 0 is of round nan");
    this->expect(this->changed(first, 7.0), "record 1 is of round 0, gossip step 1, after round 7");
    this->expect(this->changed(first + 8, 1.0), "record 0 is of round 0, gossip step 1");
    this->expect(this->changed(first + size + 8, 0.0), "record 1 is of round 0, gossip step 0");
    this->expect(this->changed(first + 2 * size, 2.0), "record 2 is of round 2");
    this->expect(this->changed(first + 3 * size, 2.0), "record 3 is of round 2");
    this->expect(this->changed(first + 16, not_a_number), "not finite");
    // What stands in a record is a number; masked words are not.
    const std::string after = this->changed(first + size + 80, std::string(8, '\xff'));
    if (TestFixture::view)
        this->expect(after, "round 0, gossip step 1 holds a value that is not finite");
    else
        EXPECT_EQ(after, "it was read");
}

TEST(DamagedWire, OfMessagesHoldsFiniteValuesOnly) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    (void)record(of_messages, folder);
    std::string content = read_file(test::wire_file(folder, 2));
    content.replace(content.find('\n') + 1 + 80, 8, std::string(8, '\xff'));
    WireReader reader(temporary.write("damaged.bin", content));
    WireRecord record;
    EXPECT_THROW((void)reader.next(record), DataError);
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
