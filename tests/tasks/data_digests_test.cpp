#include "tasks/data_digests.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::Json;

FileDigest file(const std::string& option, std::uint8_t content) {
    return {option, "/data/" + option, 7, Digest{content}};
}

TEST(DigestOfAnAgent, IsOfItsFilesTheSharedOnesAndThePartition) {
    const DataDigests data{{file("data", 1), file("test-data", 2)}, Digest{3}, {}};
    const Digest digest = digest_of_agent(data, 0);
    const auto differs = [&](auto change) {
        DataDigests changed = data;
        change(changed);
        EXPECT_NE(digest_of_agent(changed, 0), digest);
    };
    differs([](DataDigests& d) { d.shared[0].digest[31] = 1; });
    differs([](DataDigests& d) { d.shared[1].digest[31] = 1; });
    differs([](DataDigests& d) { std::swap(d.shared[0], d.shared[1]); });
    differs([](DataDigests& d) { d.shared.pop_back(); });
    differs([](DataDigests& d) { d.partition.reset(); });
    differs([](DataDigests& d) { (*d.partition)[0] = 4; });
    differs([](DataDigests& d) { d.own = {{file("data", 1)}}; });
    DataDigests moved = data;  // to where files have other names
    moved.shared[0].path = "elsewhere";
    EXPECT_EQ(digest_of_agent(moved, 0), digest);
}

TEST(DigestOfAnAgent, OfFilesOfItsOwnIsNoOthers) {
    const DataDigests data{{}, {}, {{file("data", 1)}, {file("data", 2)}}};
    EXPECT_NE(digest_of_agent(data, 0), digest_of_agent(data, 1));
    const DataDigests second{{}, {}, {{file("data", 2)}}};
    EXPECT_EQ(digest_of_agent(second, 0), digest_of_agent(data, 1));
}

TEST(DigestOfAPartition, SaysWhoHasWhichRows) {
    const Digest digest = digest_of_partition({{0, 2}, {1}});
    EXPECT_NE(digest_of_partition({{0, 2, 1}, {}}), digest);
    EXPECT_NE(digest_of_partition({{2, 0}, {1}}), digest);
    EXPECT_NE(digest_of_partition({{1}, {0, 2}}), digest);
    EXPECT_EQ(digest_of_partition({{0, 2}, {1}}), digest);
}

TEST(DataCommitmentOfAnAgent, OpensWithItsKeyAloneAndIsNeverTheSame) {
    const Digest of_agent{5};
    const DataCommitment one = commit_to_data(of_agent), other = commit_to_data(of_agent);
    EXPECT_NE(one.key, other.key);
    EXPECT_NE(one.value, other.value);
    EXPECT_EQ(committed(one.key, of_agent), one.value);
    EXPECT_NE(committed(other.key, of_agent), one.value);
    EXPECT_NE(committed(one.key, Digest{6}), one.value);
}

TEST(DataJson, OpensTheCommitment) {
    const DataDigests data{{file("test-data", 2)}, {}, {{file("data", 1)}, {file("data", 9)}}};
    const DataCommitment commitment = commit_to_data(digest_of_agent(data, 1));
    const Json json = Json::parse(data_json(data, 1, commitment));
    ASSERT_EQ(json["files"].size(), 2U);
    EXPECT_EQ(json["files"][0],
              (Json{{"option", "data"},
                    {"file", "/data/data"},
                    {"records", 7},
                    {"blake2b", to_hex(Digest{9})}}));
    EXPECT_EQ(json["files"][1]["option"], "test-data");
    EXPECT_TRUE(json["partition"].is_null());
    Digest key{}, digest{};
    ASSERT_TRUE(from_hex(json["key"].get<std::string>(), key));
    ASSERT_TRUE(from_hex(json["blake2b"].get<std::string>(), digest));
    EXPECT_EQ(json["commitment"], to_hex(committed(key, digest)));
}

}  // namespace
}  // namespace sotto
