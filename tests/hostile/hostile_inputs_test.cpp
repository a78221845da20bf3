// Every reader of files and of peers' bytes, with inputs made to mislead, exhaust or stop it: the
// outcome each must have, in 2 s and 200 MB.

#include <gtest/gtest.h>

#include <set>

#include "hostile/hostile_input.hpp"

namespace sotto::test {
namespace {

TEST(HostileInputs, OfDataFilesAreRefused) { expect_all_refused(hostile_data_files()); }
TEST(HostileInputs, OfGraphFilesAreRefused) { expect_all_refused(hostile_graph_files()); }
TEST(HostileInputs, OfPlansAreRefused) { expect_all_refused(hostile_plan_files()); }
TEST(HostileInputs, OfOptionsAndKeysAreRefused) { expect_all_refused(hostile_option_files()); }
TEST(HostileInputs, OfRunDirectoriesAreRefused) { expect_all_refused(hostile_run_files()); }
TEST(HostileInputs, OfRecordingsAreRefused) { expect_all_refused(hostile_recordings()); }
TEST(HostileInputs, OfPeersAreRefused) { expect_all_refused(hostile_peer_bytes()); }

TEST(HostileInputs, AreMoreThanTwoHundredDifferentOnes) {
    std::set<std::string> names;
    for (const auto& table : {hostile_data_files(),
                              hostile_graph_files(),
                              hostile_plan_files(),
                              hostile_option_files(),
                              hostile_run_files(),
                              hostile_recordings(),
                              hostile_peer_bytes()})
        for (const HostileInput& input : table)
            EXPECT_TRUE(names.insert(input.name).second) << input.name << " is there twice";
    EXPECT_GE(names.size(), 300U);
}

}  // namespace
}  // namespace sotto::test
