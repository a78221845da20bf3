// What people write: options, sweeps, rosters, identities.

#include <filesystem>

#include "audit/canaries.hpp"
#include "audit/known_models.hpp"
#include "commands/sweep/sweep_file.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "core/files.hpp"
#include "hostile/hostile_input.hpp"
#include "options/train_options.hpp"
#include "tasks/task.hpp"
#include "trust/identity.hpp"

namespace sotto::test {

namespace {

std::vector<HostileFile> config_files() {
    constexpr ExitCode usage = ExitCode::usage;
    return {
        {"an option that does not exist", text("epsilom = 3\n"), {"epsilom", "epsilon"}, usage, ""},
        {"a section", text("[x]\nepsilon = 3\n"), {"x.epsilon"}, usage, ""},
        {"a line without value", text("epsilon\n"), {"epsilon"}, usage, ""},
        {"a value that is a word", text("epsilon = much\n"), {"epsilon", "much"}, usage, ""},
        {"not a number", text("epsilon = nan\n"), {"epsilon"}, usage, ""},
        {"infinite", text("epsilon = inf\n"), {"epsilon"}, usage, ""},
        {"negative", text("epsilon = -1\n"), {"epsilon"}, usage, ""},
        {"rounds of 1e30",
         text("rounds = 1000000000000000000000000000000\n"),
         {"rounds"},
         usage,
         ""},
        {"half a round", text("rounds = 1.5\n"), {"rounds"}, usage, ""},
        {"no agents", text("agents = 0\n"), {"agents"}, usage, ""},
        {"-3 agents", text("agents = -3\n"), {"agents"}, usage, ""},
        {"twice", text("epsilon = 1\nepsilon = 2\n"), {"epsilon"}, usage, ""},
        {"another mechanism", text("mechanism = magic\n"), {"magic"}, usage, ""},
        {"another topology", text("topology = mesh\n"), {"mesh"}, usage, ""},
        {"a seed of 1e30", text("seed = 1000000000000000000000000000000\n"), {"seed"}, usage, ""},
        {"a megabyte of comments", text(repeated("# a comment of a line\n", 60000)), {"bytes"}},
        {"empty", text(""), {"empty"}},
    };
}

std::vector<HostileFile> sweep_files() {
    constexpr ExitCode usage = ExitCode::usage;
    return {
        {"an option that does not exist", text("epsilom = 3\n"), {"epsilom"}, usage},
        {"an option of a single run", text("run-directory = x\n"), {"run-directory"}, usage},
        {"twice", text("epsilon = 1\nepsilon = 2\n"), {"twice"}, usage},
        {"an own option in a section", text("[a]\nchoose = step-size\n"), {"choose"}, usage, ""},
        {"a choice of no option", text("choose = nothing\n"), {"nothing"}, usage, ""},
        {"a line without value", text("epsilon\n"), {"epsilon"}, usage},
        {"a megabyte", text(repeated("# a comment of a line\n", 60000)), {"bytes"}},
    };
}

const std::string key(64, 'a');

std::vector<HostileFile> rosters() {
    return {
        {"a key of 63 digits", text(key.substr(1) + " a\n"), {":1:", "64 hex"}},
        {"a key of 65 digits", text(key + "a a\n"), {":1:", "64 hex"}},
        {"letters that are no digits", text(std::string(64, 'z') + " a\n"), {":1:"}},
        {"no name", text(key + "\n"), {":1:", "name"}},
        {"two names", text(key + " a b\n"), {":1:"}},
        {"a name of 65 characters", text(key + " " + std::string(65, 'n') + "\n"), {":1:"}},
        {"a name that is no ASCII", text(key + " n\xc3\xa4me\n"), {":1:"}},
        {"a key twice", text(key + " a\n" + key + " b\n"), {":2:", "same key"}},
        {"a name twice", text(key + " a\n" + std::string(64, 'b') + " a\n"), {":2:", "twice"}},
        {"zero bytes", text(std::string(100, '\0')), {":1:"}},
    };
}

MakeFile private_text(std::string content) {
    return [content = std::move(content)](const std::string& path) {
        text(content)(path);
        std::filesystem::permissions(path, std::filesystem::perms(0600));
    };
}

std::vector<HostileFile> identities() {
    const std::string head = "sotto-identity 1\n";
    return {
        {"missing", nothing(), {"cannot be read"}},
        {"a pipe", pipe(), {"not a file"}},
        {"a folder", folder(), {"not a file"}},
        {"empty", private_text(""), {"not an identity"}},
        {"another file",
         private_text("-----BEGIN OPENSSH PRIVATE KEY-----\n"),
         {"not an identity"}},
        {"another version", private_text("sotto-identity 12\n"), {"format"}},
        {"no secret", private_text(head + "public " + key + "\n"), {"missing"}},
        {"short keys", private_text(head + "public ab\nsecret ab\n"), {"damaged"}},
        {"keys that do not belong together",
         private_text(head + "public " + key + "\nsecret " + key + "\n"),
         {"do not belong together"}},
        {"more after it",
         private_text(head + "public " + key + "\nsecret " + key + "\nmore\n"),
         {"damaged"}},
        {"readable by all",
         [=](const std::string& path) {
             text(head)(path);
             std::filesystem::permissions(path, std::filesystem::perms(0644));
         },
         {"0644", "chmod 600"},
         ExitCode::usage},
    };
}

std::string canaries(const std::string& change, const std::string& to) {
    std::string all = R"({"format":"sotto-canaries","version":1,"target":0,"seed":1,"trials":400,)"
                      R"("contribution":1.0,"hypotheses":[{"hypothesis":"a","signs":[1.0,-1.0]}]})";
    return all.replace(all.find(change), change.size(), to);
}

std::string canary_records(const std::string& change, const std::string& to) {
    std::string all = R"({"format":"sotto-canary-records","version":1,"target":0,"seed":1,)"
                      R"("trials":400,"members":[1,3]})";
    return all.replace(all.find(change), change.size(), to);
}

std::vector<HostileFile> canary_record_files() {
    return {
        {"an array", text("[]"), {"format"}},
        {"a target of -1", text(canary_records("\"target\":0", "\"target\":-1")), {"target is -1"}},
        {"1e18 trials", text(canary_records("400", "1000000000000000000")), {"trials is"}},
        {"one trial", text(canary_records("400", "1")), {"trials is 1"}},
        {"a member twice", text(canary_records("1,3", "3,3")), {"members"}},
        {"members that are texts", text(canary_records("1,3", "\"a\"")), {"members[0]"}},
    };
}

std::vector<HostileFile> canary_files() {
    return {
        {"an array", text("[]"), {"format"}},
        {"a contribution of 1e308",
         text(canaries("1.0,\"hyp", "1e308,\"hyp")),
         {"contribution is"}},
        {"a contribution of 1e999", text(canaries("1.0,\"hyp", "1e999,\"hyp")), {"too large"}},
        {"a contribution of 0", text(canaries("1.0,\"hyp", "0,\"hyp")), {"contribution is 0"}},
        {"a target of -1", text(canaries("\"target\":0", "\"target\":-1")), {"target is -1"}},
        {"a target of 2^33", text(canaries("\"target\":0", "\"target\":8589934592")), {"target"}},
        {"1e18 trials", text(canaries("400", "1000000000000000000")), {"trials is"}},
        {"one trial", text(canaries("400", "1")), {"trials is 1"}},
        {"signs of 1e308", text(canaries("-1.0", "-1e308")), {"signs"}},
        {"signs that are texts", text(canaries("-1.0", "\"-\"")), {"hypotheses[0].signs[1]"}},
        {"no hypotheses",
         text(canaries("{\"hypothesis\":\"a\",\"signs\":[1.0,-1.0]}", "")),
         {"hypotheses"}},
        {"arrays a million deep", text(std::string(1000000, '[')), {"nested"}},
    };
}

std::vector<HostileFile> outcomes() {
    return {
        {"an array", text("[]"), {"not the outcome"}},
        {"cut", text("{\"status\":"), {"not the outcome", "byte"}},
        {"another status", text(R"({"status":"well","seconds":1})"), {"well"}},
        {"seconds as a text", text(R"({"status":"done","seconds":"1"})"), {"seconds is"}},
        {"an exit code of 1e9",
         text(R"({"status":"done","seconds":1,"exit_code":1000000000})"),
         {"exit_code"}},
        {"metrics that are texts",
         text(R"({"status":"done","seconds":1,"metrics":{"mu":"x"}})"),
         {"metrics.mu is \"x\""}},
    };
}

/// Refusals that name an option rather than a file.
HostileInputs named_where_given(const std::string& reader,
                                const std::function<void(const std::string&)>& read,
                                const std::vector<HostileFile>& files) {
    HostileInputs all;
    for (HostileFile file : files) {
        const bool named = !file.file.empty();
        file.file = "input";
        HostileInput input = files_of(reader, read, {file}).front();
        if (!named) input.words.pop_back();
        all.push_back(std::move(input));
    }
    return all;
}

}  // namespace

HostileInputs hostile_option_files() {
    HostileInputs all;
    const auto add = [&](HostileInputs more) { all.insert(all.end(), more.begin(), more.end()); };
    const auto config = [](const std::string& path) {
        (void)train_config_of({read_file(path, largest_config_bytes), path});
    };
    const auto sweep = [](const std::string& path) {
        (void)cli::read_sweep({}, read_file(path, largest_config_bytes), path);
    };
    const auto roster = [](const std::string& path) { (void)Roster::read(path); };
    const auto canary = [](const std::string& path) {
        (void)canaries_from_json(read_file(path), path);
    };
    const auto task = [](const std::string& path) { (void)OwnTask(path); };
    add(files_of("config", config, no_files()));
    add(named_where_given("config", config, config_files()));
    add(named_where_given("sweep", sweep, sweep_files()));
    add(files_of("roster", roster, no_files()));
    add(files_of("roster", roster, rosters()));
    add(files_of(
        "identity", [](const std::string& path) { (void)Identity::read(path); }, identities()));
    add(files_of("canaries", canary, canary_files()));
    add(files_of(
        "canary-records",
        [](const std::string& path) { (void)canary_records_from_json(read_file(path), path); },
        canary_record_files()));
    add(files_of(
        "outcome", [](const std::string& path) { (void)outcome_from_json(path); }, outcomes()));
    add(files_of("task",
                 task,
                 {{"a text", text("hello"), {"shared library"}, ExitCode::usage},
                  {"a pipe", pipe(), {"it is not a file"}, ExitCode::usage},
                  {"a folder", folder(), {"it is not a file"}, ExitCode::usage},
                  {"missing", nothing(), {"shared library"}, ExitCode::usage}}));
    return all;
}

}  // namespace sotto::test
