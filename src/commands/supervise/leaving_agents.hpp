#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace sotto::cli {

/// Who is left of a run when hosts are.
struct RemainingAgents {
    std::vector<int> leave;  ///< still there, and on hosts that are left out, or asked for
    int left = 0;            ///< agents
    int ranks = 0;           ///< to start: one an agent, or as many as before on the other hosts
};

/// @param directory of a run that has begun; its newest manifest says who was where.
/// @param host_names as hosts call themselves.  @param asked agents that are to leave anyhow.
/// @throws DataError if no start of the run has a manifest, or its files are damaged.
[[nodiscard]] RemainingAgents remaining_agents(const std::filesystem::path& directory,
                                               const std::set<std::string>& host_names,
                                               const std::vector<int>& asked);

/// Those of `asked` that the run still has, ascending: the others may not be named again. All of
/// them where no run is there.
[[nodiscard]] std::vector<int> still_there(const std::filesystem::path& directory,
                                           const std::vector<int>& asked);

}  // namespace sotto::cli
