#include "store/budget_account_file.hpp"

#include <sys/stat.h>

#include <functional>
#include <thread>

#include "config/run_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::TemporaryFolder;

BudgetAccount sample() {
    BudgetAccount account({10, 1e-5, Adjacency::record});
    Digest run{};
    const std::vector<AccountPhase> phases{{{run}, 9}};
    account.reserve(
        {run, "2026-01-01T00:00:00Z", "pairs", 100, PrivacyLoss::gaussian(1), {}, {}, phases});
    account.settle({run, "", "", 9, PrivacyLoss::gaussian(0.3), {}, {}, phases});
    run.fill(1);
    account.reserve({run, "2026-01-02T00:00:00Z", "laplace", 7, PrivacyLoss::pure(0.1), {}, {}});
    return account;
}

std::string reason_of(const std::string& text) {
    return test::message_of<DataError>([&] { (void)account_from_text(text, "mine"); });
}

std::string changed(const std::function<void(Json&)>& change, const Identity* signer = nullptr) {
    Json json = Json::parse(account_text(sample(), 4, signer));
    change(json);
    return json.dump();
}

TEST(BudgetAccountText, ComesBackToTheBit) {
    const Identity owner = Identity::generate();
    for (const Identity* signer : {static_cast<const Identity*>(nullptr), &owner}) {
        const BudgetAccount account = sample();
        const std::string text = account_text(account, 4, signer);
        const KeptAccount kept = account_from_text(text, "mine");
        EXPECT_EQ(kept.serial, 4);
        EXPECT_EQ(kept.owner.has_value(), signer != nullptr);
        EXPECT_EQ(kept.account.digest({}, 0), account.digest({}, 0));
        EXPECT_EQ(kept.account.spent(), account.spent());
        EXPECT_EQ(account_text(kept.account, kept.serial, signer), text);
    }
}

TEST(BudgetAccountText, ThatSomebodyChangedIsRefused) {
    const Identity owner = Identity::generate();
    const std::vector<std::function<void(Json&)>> changes{
        [](Json& json) { json["epsilon"] = 100; },
        [](Json& json) { json["delta"] = 0.1; },
        [](Json& json) { json["adjacency"] = "agent"; },
        [](Json& json) { json["unit_column"] = "patient"; },
        [](Json& json) { json["serial"] = 5; },
        [](Json& json) { json["entries"].erase(0); },
        [](Json& json) { json["entries"][0]["loss"]["mu^2"] = 0.2; },
        [](Json& json) { json["entries"][1]["rounds"] = 1; },
        [](Json& json) { json["entries"][1]["state"] = "settled"; }};
    for (const Identity* signer : {static_cast<const Identity*>(nullptr), &owner})
        for (const auto& change : changes)
            expect_contains(reason_of(changed(change, signer)), "it was changed");
}

TEST(BudgetAccountText, NeedsTheIdentityToBeMadeAnew) {
    const Identity owner = Identity::generate(), other = Identity::generate();
    // Somebody without the identity makes the digest right, not the signature.
    const BudgetAccount more({1000, 1e-5, Adjacency::record});
    Json forged = Json::parse(account_text(more, 4, &other));
    forged["owner"] = to_hex(owner.public_key());
    forged["digest"] = to_hex(more.digest(owner.public_key(), 4));
    expect_contains(reason_of(forged.dump()), "the signature is wrong");
    // Or takes the signature away, which who has the identity sees (BudgetAccountFile::hold).
    forged = Json::parse(account_text(sample(), 4, &owner));
    forged["owner"] = nullptr;
    expect_contains(reason_of(forged.dump()), "it was changed");
}

TEST(BudgetAccountText, IsReadStrictly) {
    for (const std::string text : {"", "{}", "[]", "null", "{\"format\":\"sotto-ledger\"}", "{"})
        EXPECT_NE(reason_of(text), "") << text;
    expect_contains(reason_of(std::string(100000, '[')), "nested");
    expect_contains(reason_of(std::string(most_account_bytes + 1, ' ')), "more than");
    const std::vector<std::pair<std::function<void(Json&)>, std::string>> wrong{
        {[](Json& json) { json["more"] = 1; }, "there is no 'more'"},
        {[](Json& json) { json.erase("digest"); }, "digest is missing"},
        {[](Json& json) { json["version"] = 1; }, "version is 1"},
        {[](Json& json) { json["epsilon"] = "ten"; }, "epsilon is \"ten\""},
        {[](Json& json) { json["epsilon"] = -1; }, "epsilon: -1"},
        {[](Json& json) { json["serial"] = -1; }, "serial is -1"},
        {[](Json& json) { json["serial"] = 1e30; }, "whole number"},
        {[](Json& json) { json["adjacency"] = "planet"; }, "planet"},
        {[](Json& json) { json["entries"] = 3; }, "entries is 3"},
        {[](Json& json) { json["entries"][0] = 3; }, "entries[0] is 3"},
        {[](Json& json) { json["entries"][0]["run"] = "00"; }, "entries[0].run is \"00\""},
        {[](Json& json) {
             json["entries"][0]["loss"] = {{"rho", 1}};
         },
         "mu^2, epsilon, sampled_rounds"},
        {[](Json& json) {
             json["entries"][0]["loss"] = {{"mu^2", -1}};
         },
         "entries[0].loss.mu^2 is -1"},
        {[](Json& json) { json["entries"][0]["loss"] = Json::object(); }, "entries[0].loss is"},
        {[](Json& json) {
             json["entries"][0]["loss"] = {{"mu^2", 1}, {"sampled_rounds", 1}};
         },
         "entries[0].loss.sampled_rounds is 1"},
        {[](Json& json) {
             json["entries"][0]["left"] = {{"mu^2", 9}};
         },
         "a run has revealed more"},
        {[](Json& json) { json["entries"][0]["state"] = "open"; }, "entries[0].state is \"open\""},
        {[](Json& json) { json["entries"].push_back(json["entries"][0]); }, "is in it twice"},
        {[](Json& json) { json["entries"][0]["mechanism"] = std::string(65, 'x'); }, "too long"},
        {[](Json& json) { json["owner"] = "ff"; }, "owner is \"ff\""}};
    for (const auto& [change, part] : wrong) expect_contains(reason_of(changed(change)), part);
    Json many = Json::parse(account_text(sample(), 4, nullptr));
    for (std::size_t i = 0; i < BudgetAccount::most_entries; ++i)
        many["entries"].push_back(many["entries"][0]);
    expect_contains(reason_of(many.dump()), "entries, more than");
}

namespace fs = std::filesystem;

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
