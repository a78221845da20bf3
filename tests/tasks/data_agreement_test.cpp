#include "tasks/data_agreement.hpp"

#include <array>

#include "config/run_fixtures.hpp"
#include "core/bytes.hpp"
#include "fuzz/support.hpp"
#include "trust/handshake.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;

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

// What ranks that disagree say: tests/cli/data_agreement_test.cpp.

/// Secrets of two agents, one a process, of one session.
std::array<std::vector<PairSecrets>, 2> secrets_of_two() {
    const HandshakeTerms terms{2, Digest{1}, Digest{2}, Digest{3}};
    Handshake first(terms, std::vector<int>{0}, nullptr);
    Handshake second(terms, std::vector<int>{1}, nullptr);
    const std::vector<std::string> announced{first.announcement(), second.announcement()};
    first.receive(announced);
    second.receive(announced);
    const std::vector<std::string> confirmed{first.confirmation(), second.confirmation()};
    return {first.finish(confirmed).secrets, second.finish(confirmed).secrets};
}

DataDigests one_file() { return {{{"data", "train.svm", 9, Digest{7}}}, Digest{8}, {}}; }

/// What process 0 makes of what process 1 sends; or process 1 of what process 0 finds.
std::string message(int process,
                    const std::string& theirs,
                    const std::string& verdict,
                    const DataDigests& digests = one_file()) {
    std::array<std::vector<PairSecrets>, 2> secrets = secrets_of_two();
    fuzz::ScriptedNetwork network(
        2, process, verdict, [&](int) { return std::vector<std::string>(2, theirs); });
    return message_of<Error>(
        [&] { require_same_data(network, secrets[static_cast<std::size_t>(process)], digests); });
}

std::string shown(const std::string& host, std::uint64_t count, std::size_t bytes) {
    ByteWriter writer;
    writer.put_text(host);
    writer.put(count);
    return writer.take() + std::string(bytes, 'x');
}

std::string found(std::int32_t number) {
    ByteWriter writer;
    writer.put(number);
    return writer.take();
}

TEST(RequireSameData, AsksNobodyInOneProcess) {
    const auto network = make_memory_network(3, 1);
    std::vector<PairSecrets> none;
    EXPECT_NO_THROW(require_same_data(*network, none, one_file()));
}

TEST(RequireSameData, NamesFileRankAndHostThatDiffer) {
    const std::string other = message(0, shown("node7", 2, 64), "");
    expect_contains(other, "data: train.svm has other records on rank 1 (node7) than on rank 0 (");
    expect_contains(message(0, shown("node7", 1, 32), ""),
                    "rank 1 (node7) read another number of files");
    expect_contains(message(1, shown("node0", 2, 64), found(1)),
                    "dealt others to the agents than rank 0 (node0)");
}

TEST(RequireSameData, RefusesOtherBytes) {
    for (const std::string& bytes : {std::string("x"),
                                     shown("a", 3, 64),
                                     shown("a", std::uint64_t{1} << 60, 64),
                                     shown("a", 2, 65)})
        expect_contains(message(0, bytes, ""), "what rank 1 shows of its data");
    for (const std::string& verdict : {std::string("x"), found(2), found(-3), found(-1) + "x"})
        expect_contains(message(1, shown("a", 2, 64), verdict), "rank 0 found about the ranks");
}

}  // namespace
}  // namespace sotto
