#include "training/sealed_ledger.hpp"

#include "store/ledger_digest.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(SealLedger, LeavesALedgerThatManifestAndAllAgentsName) {
    const test::TemporaryFolder folder;
    TrainConfig config = test::quadratic_config(4, "decor", 10);
    config.run_directory = folder.path("run");
    const fs::path run = *config.run_directory;
    const auto network = make_memory_network(4, 1);
    const OpenRun open = open_run(test::prepare(config, *network));
    const std::string running = ledger_digest(read_sealed_ledger(run));
    write_open_ledger(open, Ledger::Status::failed, 3);
    EXPECT_EQ(test::read_json(run / "ledger.json")["status"], "failed");
    EXPECT_EQ(ledger_digest(read_sealed_ledger(run)), running);
    seal_ledger(open, Ledger::Status::interrupted, 7);
    const std::string ended = ledger_digest(read_sealed_ledger(run));
    EXPECT_NE(ended, running);
    for (int agent = 0; agent < 4; ++agent)
        EXPECT_EQ(read_ledger_digests(ledger_digest_file(run, agent)), std::vector{ended});
    EXPECT_EQ(test::read_json(run / "manifest.json")["ledger_blake2b"], test::Json{ended});
}

}  // namespace
}  // namespace sotto
