#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "sotto/core/error.hpp"
#include "sotto/trust/enrolment.hpp"

namespace sotto::cli {

namespace {

std::vector<OptionGroup> options() {
    return {{"Identity",
             {{"identity", "", "new FILE for the identity; keep it secret"},
              {"roster", "", "FILE to append the public key to; made if there is none"},
              {"name", "", "one word for people (default: the identity's file name)"}}},
            common_options()};
}

int run(const std::vector<std::string>& arguments) {
    const ParsedOptions parsed(options(), arguments);
    const std::filesystem::path identity = parsed.text("identity");
    const std::string& roster = parsed.text("roster");
    if (identity.string().find("%r") != std::string::npos)
        throw ConfigError(
            fmt::format("--identity: {} holds %r, which stands for an agent's number in `sotto "
                        "train`; name one file",
                        identity.string()));
    require_json_writable(parsed);
    const std::string name = parsed.has("name") ? parsed.text("name") : identity.stem().string();
    const std::string key = to_hex(enroll(identity, roster, name));
    nlohmann::ordered_json json;
    json["public_key"] = key;
    json["name"] = name;
    json["roster"] = roster;
    json["identity"] = identity.string();
    write_json(parsed, json.dump(2) + "\n");
    if (std::FILE* out = report_stream(parsed)) {
        fmt::print(out, "public key {} ({})\n", key, name);
        fmt::print(out, "identity   {} (secret; mode 0600)\n", identity.string());
        fmt::print(out, "roster     {}\n", roster);
    }
    return 0;
}

}  // namespace

Command keygen_command() {
    return {"keygen",
            "make an agent's identity and add its public key to a roster",
            "sotto keygen --identity agent0.identity --roster agents.roster --name alice",
            options,
            false,
            run};
}

}  // namespace sotto::cli
