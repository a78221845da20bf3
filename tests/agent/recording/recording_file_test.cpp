// Both kinds of recordings through their readers: no damaged file is read.

#include "agent/recording/recording_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "agent/recording/recorded_job.hpp"
#include "core/temporary_folder.hpp"
#include "learn/test_data.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::record_five;
using test::recorded_rounds;
using test::TemporaryFolder;

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
