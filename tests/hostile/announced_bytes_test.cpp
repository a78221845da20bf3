// Under mpiexec: the last rank speaks MPI itself and announces gigabytes in every collective that
// takes a length from a peer. The others must refuse before they take memory for them.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"
#include "net/mpi/agree.hpp"
#include "net/mpi/all_gather.hpp"
#include "net/mpi/broadcast.hpp"
#include "net/mpi/scatter.hpp"

namespace sotto {
namespace {

constexpr std::uint64_t announced = 3000000000;

/// Largest memory of this process since the last reset_peak().
long peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// What an honest rank says, and how much memory it took meanwhile.
void expect_refused(const std::string& rank, const std::function<void()>& collective) {
    reset_peak();
    const long before = peak_kib();
    const std::string message = test::message_of<NetworkError>(collective);
    EXPECT_NE(message.find("rank " + rank + " announces 3000000000 bytes where at most "),
              std::string::npos)
        << message;
    EXPECT_LT(peak_kib() - before, 64 * 1024);
}

class AnnouncedBytes : public testing::Test {
  protected:
    /// The same calls of MPI on all ranks, in the same order.
    MpiWorld& dishonest() { return *world_; }
    Network& honest() { return *network_; }
    [[nodiscard]] bool is(int rank) const { return rank == test::mpi_session().rank(); }
    [[nodiscard]] int last() const { return test::mpi_session().ranks() - 1; }

    void SetUp() override { begin(last()); }
    void begin(int liar) {
        world_.reset();
        network_.reset();
        if (is(liar))
            world_ = std::make_unique<MpiWorld>();
        else
            network_ = test::mpi_network();
    }

  private:
    std::unique_ptr<MpiWorld> world_;
    std::unique_ptr<Network> network_;
};

TEST_F(AnnouncedBytes, OfAGatheredStringAreRefused) {
    if (is(last())) {
        (void)announced_sizes(dishonest(), announced);
        (void)lowest_failure(dishonest(), std::nullopt);
    } else {
        expect_refused(std::to_string(last()),
                       [&] { (void)honest().all_gather("announcement", 141); });
    }
}

TEST_F(AnnouncedBytes, OfABroadcastOfRank0AreRefused) {
    begin(0);
    if (is(0)) {
        (void)size_at(dishonest(), 0, announced);
        (void)lowest_failure(dishonest(), std::nullopt);
    } else {
        expect_refused("0", [&] { (void)honest().broadcast("", 1 << 20); });
    }
}

TEST_F(AnnouncedBytes, OfAScatteredStringAreRefused) {
    begin(0);
    if (is(0)) {
        (void)lowest_failure(dishonest(), std::nullopt);
        std::uint64_t own = 0;
        const std::vector<std::uint64_t> sizes(static_cast<std::size_t>(last()) + 1, announced);
        dishonest().complete("MPI_Iscatter", [&](MPI_Request* request) {
            return MPI_Iscatter(sizes.data(),
                                1,
                                MPI_UINT64_T,
                                &own,
                                1,
                                MPI_UINT64_T,
                                0,
                                dishonest().communicator(),
                                request);
        });
        (void)lowest_failure(dishonest(), std::nullopt);
    } else {
        expect_refused("0", [&] { (void)honest().scatter({}, 4096); });
    }
}

/// Only who would take memory for it refuses, and all end.
TEST_F(AnnouncedBytes, OfAParcelAreRefused) {
    const std::vector<int> to_first(static_cast<std::size_t>(last()) + 1, 0);
    if (is(last())) {
        (void)lowest_failure(dishonest(), std::nullopt);
        (void)announced_sizes(dishonest(), announced);
        (void)lowest_failure(dishonest(), std::nullopt);
    } else {
        expect_refused(std::to_string(last()),
                       [&] { (void)honest().send_parcels("one", to_first, 4096); });
    }
}

/// The words of an error are announced too, and nobody can be asked to agree on them.
TEST_F(AnnouncedBytes, OfAnErrorsWordsAreRefused) {
    if (is(last())) {
        const std::array<int, 2> own{last(), 0};
        std::array<int, 2> lowest{};
        dishonest().complete("MPI_Iallreduce", [&](MPI_Request* request) {
            return MPI_Iallreduce(own.data(),
                                  lowest.data(),
                                  2,
                                  MPI_INT,
                                  MPI_MIN,
                                  dishonest().communicator(),
                                  request);
        });
        int code = 2;
        dishonest().complete("MPI_Ibcast", [&](MPI_Request* request) {
            return MPI_Ibcast(&code, 1, MPI_INT, last(), dishonest().communicator(), request);
        });
        (void)size_at(dishonest(), last(), announced);
    } else {
        expect_refused(std::to_string(last()), [&] { honest().agree([] {}); });
    }
}

/// An honest rank's error may be long: it arrives cut off rather than refused.
TEST_F(AnnouncedBytes, OfAnHonestErrorNeverExceedWhatIsAllowed) {
    begin(-1);
    const std::string message = test::message_of<DataError>([&] {
        honest().agree([&] {
            if (is(last())) throw DataError(std::string(3 << 20, 'x'));
        });
    });
    const std::string said = message.substr(message.find("xxx"));
    EXPECT_EQ(said.size(), 4096U);
    EXPECT_TRUE(said.ends_with("x ..."));
}

}  // namespace
}  // namespace sotto
