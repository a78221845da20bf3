#include "store/history_copies.hpp"

#include "fuzz/support.hpp"
#include "sotto/core/bytes.hpp"
#include "store/checkpoint_store.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::resumed;
using test::run;
using test::run_until_killed;

namespace fs = std::filesystem;

/// Of a run in one process, which keeps its own copies.
class CopiesOfTheHistory : public test::ResumableRun {
  protected:
    void SetUp() override {
        TrainConfig first = config("run");
        first.checkpoint_every = 10;
        run_until_killed(first, 37);
        keep_history(path("run"), *network, 0);
        for (const long round : {20, 30})
            keep_manifest(path("run"), *network, 0, checkpoint_folder(path("run"), round));
    }
    fs::path file(const std::string& name) const { return fs::path(path("run")) / name; }
    RestoredFiles files{Stay::for_good};
    std::unique_ptr<Network> network = make_memory_network(test::agents, 1);
};

TEST_F(CopiesOfTheHistory, GiveBackARunWhoseFilesAreLost) {
    EXPECT_FALSE(restore_history(files, path("run"), *network));
    const std::vector<std::string> names{"config.ini",
                                         "history.json",
                                         "plan.json",
                                         "metrics.csv",
                                         "checkpoints/000000000020/manifest.json",
                                         "checkpoints/000000000030/manifest.json"};
    std::vector<std::string> before;
    for (const std::string& name : names) {
        before.push_back(read_file(file(name)));
        fs::remove(file(name));
    }
    EXPECT_TRUE(restore_history(files, path("run"), *network));
    for (std::size_t k = 0; k < names.size(); ++k)
        EXPECT_EQ(read_file(file(names[k])), before[k]) << names[k];
    const TrainResult rest = run(resumed(config("ignored"), path("run")));
    EXPECT_EQ(rest.resumed->round, 30);
    EXPECT_EQ(rest.rounds, test::rounds);
}

TEST_F(CopiesOfTheHistory, ForALookLeaveNothingBehind) {
    fs::remove(file("config.ini"));
    fs::remove(file("metrics.csv"));
    std::ofstream(file("plan.json")) << "another's";
    {
        RestoredFiles look(Stay::for_a_look);
        EXPECT_TRUE(restore_history(look, path("run"), *network));
        EXPECT_TRUE(fs::exists(file("config.ini")));
        EXPECT_NE(read_file(file("plan.json")), "another's");
    }
    EXPECT_FALSE(fs::exists(file("config.ini")));
    EXPECT_FALSE(fs::exists(file("metrics.csv")));
    EXPECT_EQ(read_file(file("plan.json")), "another's");
}

TEST_F(CopiesOfTheHistory, AreOfNoUseWhereThereAreNone) {
    fs::remove(file("checkpoints/run.copy"));
    fs::remove(file("history.json"));
    EXPECT_FALSE(restore_history(files, path("run"), *network));
    EXPECT_FALSE(fs::exists(file("history.json")));
}

TEST_F(CopiesOfTheHistory, ChooseNoOtherFiles) {
    for (const char* name : {"../other", "ledger.json", "plan-.json", "plan-1.json/..", ""}) {
        ByteWriter packed, all;
        packed.put(std::int64_t{9});
        packed.put_text(name);
        packed.put_text("anything");
        all.put_text(packed.take());
        fs::remove(file("history.json"));
        ByteWriter age;
        age.put(std::int64_t{9});
        age.put(std::int64_t{0});
        int call = 0;
        fuzz::ScriptedNetwork two(2, 0, "", [&, said = age.take(), copy = all.take()](int) {
            return std::vector<std::string>{"", call++ == 0 ? said : copy};
        });
        expect_contains(
            message_of<NetworkError>([&] { (void)restore_history(files, path("run"), two); }),
            "a copy of rank 0's files is damaged");
        EXPECT_FALSE(fs::exists(file("history.json"))) << name;
    }
}

}  // namespace
}  // namespace sotto
