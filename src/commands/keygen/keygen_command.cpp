#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "config/agent_path.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "trust/identity.hpp"

namespace sotto::cli {

namespace {

struct KeygenOptions {
    std::string identity, roster;
    std::optional<std::string> name;
};

OptionSet<KeygenOptions> option_set_of_keygen() {
    return OptionSet<KeygenOptions>().add(option_group<KeygenOptions>(
        "Identity",
        {{{{.name = "identity", .help = "new FILE for the identity; keep it secret"},
           bound(&KeygenOptions::identity, file_path())},
          {{.name = "roster",
            .help = "FILE to append the public key to; it is created if it does not exist"},
           bound(&KeygenOptions::roster, file_path())},
          {{.name = "name",
            .help = "name of the agent, one word for people to read (default: the identity's file "
                    "name)",
            .details = R"(
The default is the file name without its ending.)"},
           bound(&KeygenOptions::name, any_text())}}}));
}

std::vector<WrittenGroup> options_of_keygen() {
    return with_general(option_set_of_keygen().written());
}

KeygenOptions read_keygen_options(const OptionTexts& given) {
    for (const char* needed : {"identity", "roster"})
        if (!given.contains(needed))
            throw ConfigError(
                fmt::format("--{}: a value is needed (example: sotto keygen --identity "
                            "agent0.identity --roster agents.roster)",
                            needed));
    KeygenOptions config = option_set_of_keygen().read(given);
    if (differs_by_agent(config.identity))
        throw ConfigError(
            fmt::format("--identity: {} holds %r, which stands for an agent's number in `sotto "
                        "train`; name one file",
                        config.identity));
    return config;
}

int keygen_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_keygen(), arguments);
    const KeygenOptions config = read_keygen_options(given);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    const std::filesystem::path identity = config.identity;
    const std::string name = config.name.value_or(identity.stem().string());
    const std::string key = to_hex(enroll(identity, config.roster, name));
    nlohmann::ordered_json json;
    json["public_key"] = key;
    json["name"] = name;
    json["roster"] = config.roster;
    json["identity"] = identity.string();
    write_json(general, to_text(json));
    if (std::FILE* out = report_stream(general)) {
        say(out, "public key {} ({})\n", key, name);
        say(out, "identity   {} (secret; mode 0600)\n", identity.string());
        say(out, "roster     {}\n", config.roster);
    }
    return 0;
}

}  // namespace

Command keygen_command() {
    return {
        .name = "keygen",
        .summary = "make an agent's identity and add its public key to a roster",
        .example = "sotto keygen --identity agent0.identity --roster agents.roster --name alice",
        .description = R"(
Makes an identity, by which an agent proves who it is (`sotto train --roster FILE --identity FILE`), and appends its public key to a
roster. An existing identity is never overwritten.)",
        .options = options_of_keygen,
        .run = keygen_main};
}

}  // namespace sotto::cli
