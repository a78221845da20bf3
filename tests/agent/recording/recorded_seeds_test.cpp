#include "sotto/agent/recording/recorded_seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_job.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::recorded_agents;
using test::TemporaryFolder;

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
