// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "mpi/bootstrap_fixtures.hpp"
#include "mpi/wire_network.hpp"

namespace sotto {
namespace {

using test::bytes_of;
using test::expect_same_refusal;
using test::make_credentials;
using test::mpi_network;
using test::overlapping_groups;
using test::Setting;
using test::WireNetwork;

/// What open_session throws here.
std::optional<Error> session_refusal(Network& network,
                                     const Setting& setting,
                                     const Credentials* credentials) {
    return test::refusal_of(
        [&] { (void)open_session(network, setting.topography, setting.plan, credentials); });
}

TEST(Session, IsTheSameOnAllRanks) {
    const auto network = mpi_network();
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    for (const Credentials* given : {static_cast<const Credentials*>(nullptr), &credentials}) {
        Session session = open_session(*network, setting.topography, setting.plan, given);
        EXPECT_EQ(session.authenticated(), given != nullptr);
        EXPECT_EQ(session.secrets.size(), 1U);
        EXPECT_EQ(session.secrets.front().agent(), network->process());
        for (const auto& digest : {session.run_id, session.transcript})
            for (const auto& other : network->all_gather(bytes_of(digest), most_line_bytes))
                EXPECT_EQ(other, bytes_of(digest));
        const Session next = open_session(*network, setting.topography, setting.plan, given);
        EXPECT_NE(session.run_id, next.run_id);
    }
}

TEST(Session, StopsEveryRankForAStrangerAndNamesIt) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    const Setting setting = overlapping_groups(network->agents());
    Credentials credentials = make_credentials(*network);
    if (network->process() == last) credentials.identities.front() = Identity::generate();
    const std::string stranger =
        network->all_gather(to_hex(credentials.identities.front().public_key()), most_line_bytes)
            .back();
    const auto refused = session_refusal(*network, setting, &credentials);
    expect_same_refusal(*network,
                        refused,
                        ExitCode::network,
                        "agent " + std::to_string(last) + " is not in the roster");
    EXPECT_NE(std::string(refused->what()).find(stranger), std::string::npos);
}

TEST(Session, StopsEveryRankForAnIdentityUsedTwice) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 2) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(n);
    Credentials credentials = make_credentials(*network);
    // The last rank has a copy of rank 0's file.
    const std::string name = network->broadcast(
        ::testing::TempDir() + "sotto-copied-" + std::to_string(::getpid()), most_line_bytes);
    if (network->process() == 0) credentials.identities.front().write_new(name);
    (void)network->maximum(0);
    if (network->process() == n - 1) credentials.identities.front() = Identity::read(name);
    (void)network->maximum(0);
    if (network->process() == 0) ::unlink(name.c_str());
    expect_same_refusal(
        *network,
        session_refusal(*network, setting, &credentials),
        ExitCode::network,
        "agents 0 and " + std::to_string(n - 1) + " have the same identity agent0 (");
}

TEST(Session, StopsEveryRankForAnAgentWithoutRoster) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    if (last == 0) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    expect_same_refusal(
        *network,
        session_refusal(*network, setting, network->process() == last ? nullptr : &credentials),
        ExitCode::network,
        "rank " + std::to_string(last) + " was started with no roster");
}

TEST(Session, StopsEveryRankForAWrongSignature) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    WireNetwork wire(*network, [&](WireNetwork::Call, int number, std::string bytes) {
        if (number == 1 && network->process() == last) bytes.back() ^= 1;
        return bytes;
    });
    expect_same_refusal(*network,
                        session_refusal(wire, setting, &credentials),
                        ExitCode::network,
                        "agent " + std::to_string(last) + " did not prove that it is agent" +
                            std::to_string(last) + " (");
}

TEST(Session, StopsEveryRankForAReplayOfAnotherRun) {
    const auto network = mpi_network();
    const int last = network->processes() - 1;
    if (last == 0) GTEST_SKIP() << "needs two agents";
    const Setting setting = overlapping_groups(network->agents());
    const Credentials credentials = make_credentials(*network);
    std::vector<std::string> recorded;
    WireNetwork recorder(*network, [&](WireNetwork::Call, int, std::string bytes) {
        recorded.push_back(bytes);
        return bytes;
    });
    EXPECT_FALSE(session_refusal(recorder, setting, &credentials));
    WireNetwork replay(*network, [&](WireNetwork::Call, int number, std::string bytes) {
        return network->process() == last ? recorded[static_cast<std::size_t>(number)] : bytes;
    });
    const auto refused = session_refusal(replay, setting, &credentials);
    expect_same_refusal(*network, refused, ExitCode::network, "");
}

}  // namespace
}  // namespace sotto
