#include "commands/watch/run_state.hpp"

#include <nlohmann/json.hpp>

#include "commands/report/run_files.hpp"

namespace sotto {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Of an object; null where there is none.
Json member(const Json& json, const char* name) {
    return json.is_object() && json.contains(name) ? json[name] : Json();
}

/// Whether the summary is of the start that the ledger is of. That of an earlier start, which was
/// interrupted, stays until it is replaced.
bool belongs(const Json& summary, const Json& ledger) {
    const bool interrupted = member(ledger, "status") == "interrupted";
    return member(summary, "interrupted") == interrupted &&
           (!interrupted ||
            member(summary, "rounds") == member(member(ledger, "rounds"), "completed"));
}

}  // namespace

RunState run_state(const fs::path& directory) {
    std::error_code unknown;
    // The ledger is sealed before messages leave; config.ini is written when the run has begun.
    if (!fs::exists(directory / "config.ini", unknown) ||
        !fs::exists(directory / "ledger.json", unknown))
        return RunState::not_begun;
    if (fs::exists(directory / "audit.json", unknown)) return RunState::completed;
    if (fs::exists(directory / "failure.txt", unknown)) return RunState::stopped;
    const Json ledger = json_of_run(directory / "ledger.json").content;
    const Json status = member(ledger, "status");
    if (status != "completed" && status != "interrupted") return RunState::going_on;
    // The ledger is sealed before models and the summary are written.
    if (!belongs(json_of_run(directory / "summary.json").content, ledger))
        return RunState::going_on;
    return status == "completed" ? RunState::completed : RunState::stopped;
}

}  // namespace sotto
