#include "store/ledger_digest.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::Json;

Json ledger(const std::string& status) {
    return {{"format", "sotto-ledger"},
            {"version", 2},
            {"status", status},
            {"rounds", {{"planned", 30}, {"completed", 12}, {"accounted", 30}}},
            {"headline", {{"epsilon", 3.5}}}};
}

TEST(LedgerDigest, OfAnEndedRunCoversEverything) {
    const std::string before = ledger_digest(ledger("completed").dump());
    EXPECT_EQ(before.size(), 64U);
    EXPECT_EQ(ledger_digest(ledger("completed").dump(2)), before);  // blanks say nothing
    for (const char* pointer : {"/status", "/rounds/completed", "/headline/epsilon"}) {
        Json changed = ledger("completed");
        changed[Json::json_pointer(pointer)] = "running";
        EXPECT_NE(ledger_digest(changed.dump()), before) << pointer;
    }
}

TEST(LedgerDigest, OfARunUnderWayIsFixedBeforeItsFirstMessage) {
    const std::string before = ledger_digest(ledger("running").dump());
    Json later = ledger("failed");
    later["rounds"]["completed"] = 20;
    later["views"] = {{{"view", "node:0"}}};
    EXPECT_EQ(ledger_digest(later.dump()), before);
    later["headline"]["epsilon"] = 1;
    EXPECT_NE(ledger_digest(later.dump()), before);
    EXPECT_NE(ledger_digest(ledger("completed").dump()), before);
}

TEST(SealedLedger, IsReadWhereTheLastManifestAndAllCopiesNameIt) {
    const test::TemporaryFolder folder;
    const std::string text = ledger("completed").dump(), digest = ledger_digest(text);
    const std::string other(64, '0');
    (void)folder.write("ledger.json", text);
    (void)folder.write("manifest.json", with_ledger_digests("{}", {other}));
    EXPECT_THROW((void)read_sealed_ledger(folder.path()), DataError);
    (void)folder.write("manifest-1.json", with_ledger_digests("{}", {other, digest}));
    EXPECT_EQ(read_sealed_ledger(folder.path()), text);
    const fs::path copy = ledger_digest_file(folder.path(), 4);
    fs::create_directories(copy.parent_path());
    write_ledger_digests(copy, {digest});
    EXPECT_EQ(read_ledger_digests(copy), std::vector{digest});
    EXPECT_EQ(read_sealed_ledger(folder.path()), text);
    write_ledger_digests(copy, {other});
    test::expect_contains(
        test::message_of<DataError>([&] { (void)read_sealed_ledger(folder.path()); }),
        "agents/4/ledger.blake2b");
}

}  // namespace
}  // namespace sotto
