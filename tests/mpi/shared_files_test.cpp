// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include "tasks/shared_files.hpp"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>

#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "mpi/mpi_main.hpp"

namespace sotto {
namespace {

/// Counts how often a file is opened, by any process.
class Openings {
  public:
    explicit Openings(const std::string& path) : events_(::inotify_init1(IN_NONBLOCK)) {
        EXPECT_GE(::inotify_add_watch(events_, path.c_str(), IN_OPEN | IN_CLOSE), 0);
    }
    ~Openings() { ::close(events_); }
    Openings(const Openings&) = delete;
    Openings& operator=(const Openings&) = delete;

    /// Since the last call. Closings keep the system from counting openings in a row as one.
    [[nodiscard]] int count() const {
        alignas(inotify_event) std::array<char, 1 << 16> buffer{};
        const ssize_t size = ::read(events_, buffer.data(), buffer.size());
        int openings = 0;
        for (ssize_t at = 0; at < size;) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            if ((event->mask & IN_OPEN) != 0) ++openings;
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
        return openings;
    }

  private:
    int events_;
};

class SharedFilesOfRanks : public ::testing::Test {
  protected:
    SharedFilesOfRanks() {
        if (network_->process() == 0) folder_.emplace();
        path_ = network_->broadcast(folder_ ? folder_->path("data.svm.gz") : "", 4096);
        if (folder_) (void)folder_->write_gzip("data.svm.gz", "+1 1:1\n-1 2:0.5\n");
        network_->agree([] {});
    }
    ~SharedFilesOfRanks() override {
        network_->agree([] {});
    }

    const std::unique_ptr<Network> network_ = test::mpi_network();
    std::optional<test::TemporaryFolder> folder_;
    std::string path_;
};

TEST_F(SharedFilesOfRanks, AreReadOncePerHost) {
    std::optional<Openings> openings;
    if (network_->process() == 0) openings.emplace(path_);
    network_->agree([] {});
    const std::vector<ReadFile> read = read_shared_files(*network_, {path_});
    network_->agree([] {});
    ASSERT_EQ(read.size(), 1U);
    if (openings) {
        const int in_all = openings->count();
        (void)read_with_digest(path_);
        const int per_reading = openings->count();
        EXPECT_GT(per_reading, 0);
        EXPECT_EQ(in_all, per_reading) << "more ranks than one have read the file";
    }
    network_->agree([] {});
    const ReadFile own = read_with_digest(path_);
    EXPECT_EQ(read[0].digest, own.digest);
    EXPECT_EQ(digest_of_records(std::get<Dataset>(read[0].data)), own.digest);
}

TEST_F(SharedFilesOfRanks, AreReadByEveryRankThatSeesAnother) {
    std::string own = path_;
    if (network_->process() > 0) {
        own += std::to_string(network_->process());
        std::filesystem::copy_file(path_, own);
    }
    network_->agree([] {});
    const std::vector<ReadFile> read = read_shared_files(*network_, {own});
    EXPECT_EQ(read.at(0).digest, read_with_digest(path_).digest);
    EXPECT_EQ(std::get<Dataset>(read.at(0).data).source, own);
}

TEST_F(SharedFilesOfRanks, ThatAreDamagedEndAllRanksWithTheReadersError) {
    if (folder_) std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 9);
    network_->agree([] {});
    const std::string message =
        test::message_of<DataError>([&] { (void)read_shared_files(*network_, {path_}); });
    EXPECT_EQ(message, test::message_of<DataError>([&] { (void)read_with_digest(path_); }));
}

}  // namespace
}  // namespace sotto
