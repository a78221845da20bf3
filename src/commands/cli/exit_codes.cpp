#include "commands/cli/exit_codes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sotto::cli {

const std::vector<ExitCodeRecord>& exit_codes() {
    static const std::vector<ExitCodeRecord> records{
        {ExitCode::ok, "done", "done", ""},
        {ExitCode::other,
         "other",
         "anything else: diverged, out of memory, an audit that was stopped",
         "the message"},
        {ExitCode::usage,
         "usage or configuration",
         "usage or configuration",
         "the message names option, value and what is allowed"},
        {ExitCode::data,
         "data",
         "data: files that cannot be read, are damaged, or differ between hosts",
         "the message names file, rank and host"},
        {ExitCode::privacy,
         "privacy refused",
         "privacy refused: the plan does not meet the budget, or a budget account does not allow "
         "the run",
         "a larger budget, fewer rounds"},
        {ExitCode::network,
         "network or peer",
         "network or peer",
         "`train --resume DIR`; [clusters](cluster.md)"},
        {ExitCode::audit, "audit inconsistent", "audit inconsistent", ""},
        {ExitCode::complete,
         "complete already",
         "complete already: the run of `train --resume DIR` has done all its rounds",
         "nothing is left to do"},
        {ExitCode::interrupted,
         "interrupted",
         "interrupted: a training or sweep stopped cleanly after Ctrl-C, SIGTERM or a time limit",
         "`train --resume DIR`, the same `sweep` again"},
        {ExitCode::storage,
         "disk full or failing",
         "the disk is full (also: over quota, a file too large, such as above `ulimit -f`, input or "
         "output error), where a file or standard output is written",
         "make room, then `train --resume DIR`"}};
    return records;
}

std::string exit_code_list() {
    std::vector<std::string> parts;
    for (const ExitCodeRecord& record : exit_codes())
        parts.push_back(fmt::format("{} {}", static_cast<int>(record.code), record.name));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace sotto::cli
