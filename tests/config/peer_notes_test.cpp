// What ranks tell each other beside models.

#include "config/peer_notes.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

ProcessNote sample_note() {
    return {"host-\xff", "Open MPI", false, {{3, 7, std::string(64, 'a')}}};
}

TEST(ProcessNote, SurvivesTheWayToRankZero) {
    const ProcessNote back = process_note_from_json(to_json(sample_note()), 1);
    EXPECT_EQ(back.network, "Open MPI");
    EXPECT_TRUE(back.host.starts_with("host-"));
    EXPECT_FALSE(back.keys_locked);
    ASSERT_EQ(back.commitments.size(), 1U);
    EXPECT_EQ(back.commitments[0].agent, 3);
    EXPECT_EQ(back.commitments[0].group, 7);
    EXPECT_EQ(back.commitments[0].blake2b, std::string(64, 'a'));
}

TEST(ProcessNote, OfAnotherShapeIsRefusedNamingTheRank) {
    const std::string good = to_json(sample_note());
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        try {
            (void)process_note_from_json(text, 5);
        } catch (const NetworkError& error) {
            return std::string(error.what()).find("rank 5") != std::string::npos;
        }
        return false;
    };
    EXPECT_TRUE(refused("3", "4294967299"));
    EXPECT_TRUE(refused("3", "1e300"));
    EXPECT_TRUE(refused("3", "\"3\""));
    EXPECT_TRUE(refused("\"Open MPI\"", "{}"));
    EXPECT_TRUE(refused("\"Open MPI\"", deep));
    EXPECT_TRUE(refused("aaaa", "aaa"));
    EXPECT_TRUE(refused("aaaa", "<b>a"));
    EXPECT_TRUE(refused("commitments", "others"));
    EXPECT_THROW((void)process_note_from_json("", 0), NetworkError);
}

TEST(NumbersOfRecords, AreReadBackAndNothingElseIs) {
    const std::vector<Eigen::Index> records{0, 120, 9000000000};
    EXPECT_EQ(records_from_text(records_to_text(records), 0), records);
    EXPECT_TRUE(records_from_text("", 0).empty());
    for (const char* text :
         {"x ", "1", "1 2", "-1 ", " 1 ", "1  2 ", "99999999999999999999 ", "1.5 "})
        EXPECT_THROW((void)records_from_text(text, 0), NetworkError) << text;
}

}  // namespace
}  // namespace sotto
