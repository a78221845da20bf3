#include "store/budget_account_file.hpp"

#include <sys/stat.h>

#include <thread>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::TemporaryFolder;

constexpr AccountLimit ten{10, 1e-5, Adjacency::agent};

AccountEntry run_of(std::uint8_t number, double mu) {
    AccountEntry entry;
    entry.run.fill(number);
    entry.mechanism = "ldp";
    entry.loss = PrivacyLoss::gaussian(mu);
    return entry;
}

void spend(const std::string& path, std::uint8_t number, double mu) {
    BudgetAccountFile file = BudgetAccountFile::hold(path, nullptr);
    file.account().reserve(run_of(number, mu));
    file.write();
}

template <class Failure>
std::string reason_of(const std::string& path, const Identity* identity = nullptr) {
    return test::message_of<Failure>([&] { (void)BudgetAccountFile::hold(path, identity, 0.1); });
}

TEST(BudgetAccountFile, KeepsWhatWasSpentForItsOwnerAlone) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    BudgetAccountFile::create(path, ten, nullptr);
    spend(path, 1, 0.6);
    spend(path, 2, 0.8);
    EXPECT_NEAR(BudgetAccountFile::look(path).account.spent().mu().value(), 1, 1e-14);
    for (const char* ending : {"", ".lock", ".serial"})
        EXPECT_EQ(fs::status(path + ending).permissions(),
                  fs::perms::owner_read | fs::perms::owner_write)
            << ending;
    expect_contains(
        test::message_of<ConfigError>([&] { BudgetAccountFile::create(path, ten, nullptr); }),
        "exists");
}

TEST(BudgetAccountFile, IsWithOneRunAtATime) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    BudgetAccountFile::create(path, ten, nullptr);
    fs::create_symlink(path, folder.path("link"));
    const BudgetAccountFile held = BudgetAccountFile::hold(path, nullptr);
    expect_contains(reason_of<ConfigError>(path), "another run has been using it");
    expect_contains(reason_of<ConfigError>(folder.path("link")), "another run has been using it");
}

TEST(BudgetAccountFile, IsWaitedFor) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    BudgetAccountFile::create(path, ten, nullptr);
    std::vector<std::thread> others;
    for (std::uint8_t number = 1; number <= 8; ++number)
        others.emplace_back([&, number] { spend(path, number, 0.1); });
    for (std::thread& other : others) other.join();
    EXPECT_EQ(BudgetAccountFile::look(path).account.entries().size(), 8U);
}

TEST(BudgetAccountFile, PutsBackARunThatDidNotBegin) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    BudgetAccountFile::create(path, ten, nullptr);
    spend(path, 1, 0.5);
    {
        BudgetAccountFile file = BudgetAccountFile::hold(path, nullptr);
        file.account().reserve(run_of(2, 0.7));
        file.write();
        EXPECT_EQ(BudgetAccountFile::look(path).account.entries().size(), 2U);
        file.restore();
    }
    EXPECT_NEAR(BudgetAccountFile::look(path).account.spent().mu().value(), 0.5, 1e-15);
}

TEST(BudgetAccountFile, BelongsToOneIdentity) {
    const TemporaryFolder folder;
    const Identity owner = Identity::generate(), other = Identity::generate();
    BudgetAccountFile::create(folder.path("signed"), ten, &owner);
    BudgetAccountFile::create(folder.path("plain"), ten, nullptr);
    EXPECT_TRUE(BudgetAccountFile::hold(folder.path("signed"), &owner).is_signed());
    expect_contains(reason_of<DataError>(folder.path("signed"), &other), "of another identity");
    expect_contains(reason_of<DataError>(folder.path("signed")), "give --identity");
    expect_contains(reason_of<DataError>(folder.path("plain"), &owner), "it is not signed");
}

TEST(BudgetAccountFile, ThatIsAnOlderCopyIsRefused) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    BudgetAccountFile::create(path, ten, nullptr);
    spend(path, 1, 0.5);
    const std::string before = read_file(path);
    spend(path, 2, 0.5);
    write_file_atomically(path, before, Readers::owner);
    expect_contains(reason_of<DataError>(path), "an older copy");
    EXPECT_THROW((void)BudgetAccountFile::look(path), DataError);
    // Nor can an empty one take its place.
    fs::remove(path);
    EXPECT_THROW(BudgetAccountFile::create(path, ten, nullptr), ConfigError);
}

TEST(BudgetAccountFile, IsAFileThatOnlyItsOwnerCanReach) {
    const TemporaryFolder folder;
    const std::string path = folder.path("mine");
    expect_contains(reason_of<ConfigError>(path), "--open-account");
    EXPECT_FALSE(fs::exists(path + ".lock"));
    expect_contains(reason_of<ConfigError>(folder.path(".")), "it is not a file");
    ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
    expect_contains(reason_of<ConfigError>(folder.path("pipe")), "it is not a file");
    BudgetAccountFile::create(path, ten, nullptr);
    fs::permissions(path, fs::perms::group_read, fs::perm_options::add);
    expect_contains(reason_of<ConfigError>(path), "chmod 600");
    fs::permissions(path, fs::perms::group_read, fs::perm_options::remove);
    write_file_atomically(path, "sotto", Readers::owner);
    expect_contains(reason_of<DataError>(path), "it is no JSON");
    write_file_atomically(path + ".serial", "many\n", Readers::owner);
    write_file_atomically(path, account_text(BudgetAccount(ten), 0, nullptr), Readers::owner);
    expect_contains(reason_of<DataError>(path), "is damaged");
}

}  // namespace
}  // namespace sotto
