// Identities from `sotto keygen`, rosters, and trainings that need them.

#include "trust/identity.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "program.hpp"
#include "trust/key_ring.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Outcome keygen(const TempDir& directory, const std::string& identity, const Arguments& more = {}) {
    Arguments arguments{"keygen", "--identity", identity, "--roster", "roster"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sotto(directory, one_process, arguments);
}

/// agent0.id to agent(n-1).id, and their roster.
void make_identities(const TempDir& directory, int agents) {
    for (int u = 0; u < agents; ++u) {
        const Outcome outcome = keygen(directory, fmt::format("agent{}.id", u), {"--quiet"});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }
}

Arguments training(const Arguments& more) {
    Arguments arguments{"train",
                        "--rounds",
                        "4",
                        "--quiet",
                        "--run-directory",
                        "run",
                        "--roster",
                        "roster",
                        "--identity",
                        "agent%r.id"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

/// One line, exit code 5, nothing left behind.
std::string refusal(const TempDir& directory, const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 5) << outcome.text();
    EXPECT_FALSE(outcome.timed_out) << outcome.text();
    EXPECT_FALSE(fs::exists(directory / "run")) << "a refused run left a directory";
    EXPECT_TRUE(all_ended(directory.path())) << "a process is left";
    const auto lines = error_lines(outcome.err);
    EXPECT_EQ(lines.size(), 1U) << outcome.text();
    return lines.empty() ? std::string() : lines.front();
}

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is missing in\n" << text;
}

TEST(Keygen, MakesAnIdentityAndAppendsItToTheRoster) {
    const TempDir directory;
    const Outcome first = keygen(directory, "a.id", {"--name", "alice", "--json", "-", "--quiet"});
    ASSERT_EQ(first.exit_code, 0) << first.text();
    EXPECT_TRUE(first.err.empty()) << first.text();
    const Json json = Json::parse(first.out);
    EXPECT_EQ(json.at("roster"), "roster");
    const std::string key = json.at("public_key");
    EXPECT_EQ(to_hex(Identity::read(directory / "a.id").public_key()), key);

    const Outcome second = keygen(directory, "bob.id");
    ASSERT_EQ(second.exit_code, 0) << second.text();
    const auto lines = lines_of(content_of(directory / "roster"));
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0], key + " alice");
    EXPECT_TRUE(lines[1].ends_with(" bob")) << "named after its file: " << lines[1];
    expect_contains(second.out, lines[1].substr(0, 64));
    struct stat status {};
    ASSERT_EQ(::stat((directory / "bob.id").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    // The secret is in its file and nowhere else.
    const std::string file = content_of(directory / "bob.id");
    const std::string secret = file.substr(file.find("secret ") + 7, 64);
    EXPECT_EQ((second.out + second.err + content_of(directory / "roster")).find(secret),
              std::string::npos);
}

TEST(Keygen, LosesNoEntryWhenManyRunAtOnce) {
    const TempDir directory;
    std::vector<std::unique_ptr<Process>> processes;
    constexpr int many = 12;
    for (int i = 0; i < many; ++i)
        processes.push_back(std::make_unique<Process>(sotto_command(one_process,
                                                                    {"keygen",
                                                                     "--identity",
                                                                     fmt::format("agent{}.id", i),
                                                                     "--roster",
                                                                     "roster",
                                                                     "--quiet"}),
                                                      directory.path()));
    for (const auto& process : processes) {
        const Outcome outcome = process->wait();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    }
    const Roster roster = Roster::read(directory / "roster");
    ASSERT_EQ(roster.entries().size(), static_cast<std::size_t>(many));
    for (const auto& entry : roster.entries())
        EXPECT_EQ(Identity::read(directory / (entry.name + ".id")).public_key(), entry.key);
}

TEST(Keygen, RefusesWhatItCannotDoWithOneLine) {
    const TempDir directory;
    make_identities(directory, 1);
    directory.write("damaged", "who?\n");
    struct Case {
        Arguments arguments;
        int exit_code;
        std::string mention;
    };
    for (const Case& bad :
         {Case{{"keygen", "--identity", "agent0.id", "--roster", "roster"}, 2, "never overwritten"},
          Case{{"keygen", "--identity", "x.id"}, 2, "--roster"},
          Case{{"keygen", "--roster", "roster"}, 2, "--identity"},
          Case{{"keygen", "--identity", "agent%r.id", "--roster", "roster"}, 2, "%r"},
          Case{{"keygen", "--identity", "x.id", "--roster", "roster", "--name", "agent0"},
               2,
               "agent0"},
          Case{{"keygen", "--identity", "x.id", "--roster", "roster", "--name", "a b"}, 2, "a b"},
          Case{{"keygen", "--identity", "x.id", "--roster", "none/roster"}, 2, "none/roster"},
          Case{{"keygen", "--identity", "none/x.id", "--roster", "roster"}, 2, "none/x.id"},
          Case{{"keygen", "--identity", "x.id", "--roster", "damaged"}, 3, "damaged:1"}}) {
        const Outcome outcome = run_sotto(directory, one_process, bad.arguments);
        EXPECT_EQ(outcome.exit_code, bad.exit_code) << outcome.text();
        EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.text();
        expect_contains(outcome.err, bad.mention);
        EXPECT_FALSE(fs::exists(directory / "x.id")) << bad.mention;
    }
    EXPECT_EQ(lines_of(content_of(directory / "roster")).size(), 1U);
}

class AuthenticatedTraining : public testing::TestWithParam<int> {};

TEST_P(AuthenticatedTraining, SaysWhoTookPartAndKeepsNoSecret) {
    const TempDir directory;
    constexpr int agents = 3;
    make_identities(directory, agents);
    Arguments arguments = training({"--mechanism", "decor"});
    if (GetParam() == one_process)
        arguments.insert(arguments.end(), {"--agents", std::to_string(agents)});
    const Outcome outcome = run_sotto(directory, GetParam(), arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();

    const Json ledger = json_of(directory / "run/ledger.json");
    const Json manifest = json_of(directory / "run/manifest.json");
    const std::string roster = to_hex(Roster::read(directory / "roster").digest());
    EXPECT_EQ(ledger.at("authentication"), "roster " + roster);
    EXPECT_EQ(ledger.dump().find("unauthenticated"), std::string::npos);
    EXPECT_EQ(manifest.at("roster"), roster);
    EXPECT_EQ(manifest.at("run_id").get<std::string>().size(), 64U);
    ASSERT_EQ(manifest.at("public_keys").size(), 3U);
    std::vector<std::string> secrets;
    for (int u = 0; u < agents; ++u) {
        const std::string file = content_of(directory / fmt::format("agent{}.id", u));
        const Json& keys = manifest.at("public_keys").at(static_cast<std::size_t>(u));
        EXPECT_EQ(keys.at("agent"), u);
        EXPECT_EQ(keys.at("name"), fmt::format("agent{}", u));
        expect_contains(file, keys.at("identity").get<std::string>());
        secrets.push_back(file.substr(file.find("secret ") + 7, 64));
        std::string raw(32, '\0');
        std::size_t length = 0;
        ASSERT_EQ(sodium_hex2bin(reinterpret_cast<unsigned char*>(raw.data()),
                                 raw.size(),
                                 secrets.back().data(),
                                 64,
                                 nullptr,
                                 &length,
                                 nullptr),
                  0);
        secrets.push_back(raw);
    }
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "run")) {
        if (!entry.is_regular_file()) continue;
        ++files;
        const std::string content = content_of(entry.path());
        for (const auto& secret : secrets)
            EXPECT_EQ(content.find(secret), std::string::npos) << entry.path();
    }
    EXPECT_GE(files, 9);
}

INSTANTIATE_TEST_SUITE_P(AloneAndOverMpi,
                         AuthenticatedTraining,
                         testing::Values(one_process, 3),
                         [](const auto& instance) {
                             return instance.param == one_process ? "Alone" : "OverMpi";
                         });

TEST(RunDirectory, HoldsNoSeedNorAnyStreamKey) {
    // With a noise seed this test knows every seed of the run.
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      3,
                                      {"train",
                                       "--mechanism",
                                       "decor",
                                       "--rounds",
                                       "4",
                                       "--quiet",
                                       "--noise-seed",
                                       "77",
                                       "--run-directory",
                                       "run"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    std::vector<std::string> secrets;
    for (std::uint64_t group = 0; group < 6; ++group) {
        const SecretKey seed = SecretKey::from_noise_seed(77, "sotto.noise.group", group);
        for (const SecretKey& key : {seed.clone(), seed.derive("sottostr", 0)}) {
            secrets.push_back(to_hex(key.bytes()));
            secrets.emplace_back(key.bytes().begin(), key.bytes().end());
        }
    }
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "run"))
        if (entry.is_regular_file()) all += content_of(entry.path());
    for (const auto& secret : secrets) EXPECT_EQ(all.find(secret), std::string::npos);
    // They are the seeds of this run: their commitments are there.
    Hasher hasher("sotto.seed-commitment.v1");
    hasher.add_bytes(SecretKey::from_noise_seed(77, "sotto.noise.group", 0).bytes());
    expect_contains(all, to_hex(hasher.finish()));
}

TEST(Handshake, EndsEveryRankForAStranger) {
    const TempDir directory;
    make_identities(directory, 3);
    fs::remove(directory / "agent1.id");
    fs::rename(directory / "roster", directory / "true-roster");
    ASSERT_EQ(keygen(directory, "agent1.id").exit_code, 0);
    const std::string stranger = content_of(directory / "roster").substr(0, 64);
    fs::rename(directory / "true-roster", directory / "roster");
    const std::string line = refusal(directory, run_sotto(directory, 3, training({})));
    expect_contains(line, "agent 1 is not in the roster");
    expect_contains(line, stranger);
}

TEST(Handshake, EndsEveryRankForAnIdentityUsedTwice) {
    const TempDir directory;
    make_identities(directory, 3);
    fs::copy_file(
        directory / "agent0.id", directory / "agent2.id", fs::copy_options::overwrite_existing);
    const std::string key = content_of(directory / "roster").substr(0, 64);
    const std::string line = refusal(directory, run_sotto(directory, 3, training({})));
    expect_contains(line, "agents 0 and 2 have the same identity agent0 (" + key);
    // The same in one process, when %r is forgotten.
    const std::string alone = refusal(
        directory,
        run_sotto(directory,
                  one_process,
                  {"train", "--agents", "3", "--roster", "roster", "--identity", "agent0.id"}));
    expect_contains(alone, "agents 0 and 1 have the same identity agent0 (" + key);
    expect_contains(alone, "%r");
}

TEST(Handshake, EndsEveryRankWhenTheRosterHasMoreThanTheAgents) {
    const TempDir directory;
    make_identities(directory, 3);
    ASSERT_EQ(keygen(directory, "carol.id").exit_code, 0);
    const std::string line = refusal(directory, run_sotto(directory, 3, training({})));
    expect_contains(line, "identity carol (");
    expect_contains(line, "4 entries, there are 3 agents");
}

TEST(Handshake, EndsEveryRankForAnAgentWithoutIdentity) {
    const TempDir directory;
    make_identities(directory, 3);
    // Ranks 0 and 1 with a roster, rank 2 without.
    Arguments command = sotto_command(2, training({}));
    const Arguments without =
        sotto_command(1, {"train", "--rounds", "4", "--quiet", "--run-directory", "run"});
    command.emplace_back(":");
    command.insert(command.end(), std::find(without.begin(), without.end(), "-n"), without.end());
    Process process(command, directory.path());
    expect_contains(refusal(directory, process.wait()), "rank 2 was started with no roster");
}

TEST(DistributedBootstrap, TrainsTheSameAsTheCentralOne) {
    const TempDir directory;
    for (const std::string bootstrap : {"central", "distributed"}) {
        const Outcome outcome = run_sotto(directory,
                                          3,
                                          {"train",
                                           "--rounds",
                                           "6",
                                           "--quiet",
                                           "--noise-seed",
                                           "5",
                                           "--bootstrap",
                                           bootstrap,
                                           "--run-directory",
                                           bootstrap});
        ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    }
    for (int u = 0; u < 3; ++u) {
        const std::string model = fmt::format("agents/{}/model.npy", u);
        EXPECT_EQ(content_of(directory / ("central/" + model)),
                  content_of(directory / ("distributed/" + model)));
    }
}

TEST(DistributedBootstrap, EndsEveryRankWhenOneWasStartedOtherwise) {
    const TempDir directory;
    struct Case {
        Arguments option;
        std::string quantity;
    };
    for (const Case& other : {Case{{"--epsilon", "9"}, "noise plan (scale"},
                              Case{{"--topology", "complete"}, "graph"},
                              Case{{"--mixing", "lazy-metropolis"}, "mixing matrix"}}) {
        const Arguments common{"train",
                               "--rounds",
                               "4",
                               "--quiet",
                               "--topology",
                               "path",
                               "--run-directory",
                               "run",
                               "--bootstrap",
                               "distributed"};
        Arguments command = sotto_command(2, common);
        Arguments last = sotto_command(1, common);
        if (other.option[0] == "--topology")
            *std::find(last.begin(), last.end(), "path") = other.option[1];
        else
            last.insert(last.end(), other.option.begin(), other.option.end());
        command.emplace_back(":");
        command.insert(command.end(), std::find(last.begin(), last.end(), "-n"), last.end());
        Process process(command, directory.path());
        expect_contains(refusal(directory, process.wait()),
                        "rank 2 found another " + other.quantity);
    }
}

}  // namespace
}  // namespace sotto::test
