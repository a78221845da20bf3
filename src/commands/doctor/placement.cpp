#include "commands/doctor/placement.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "sotto/core/host.hpp"

namespace sotto {

namespace {

/// What a container's limit on processor time leaves, in cores.
std::optional<int> core_quota() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0, period = 0;
    if (!(file >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
    return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

}  // namespace

std::vector<int> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set)) cores.push_back(static_cast<int>(i));
    if (cores.empty()) cores.push_back(0);
    return cores;
}

int usable_cores(const Placement& placement) {
    return std::min(placement.cores_on_host, core_quota().value_or(placement.cores_on_host));
}

Placement find_placement(Network& network) {
    Placement placement;
    placement.launched = true;
    placement.rank = network.process();
    placement.ranks = network.processes();
    placement.host = local_host_name();
    placement.ranks_on_host = 0;
    std::string mine = placement.host + "\n";
    for (const int core : allowed_cores()) mine += fmt::format("{} ", core);
    // Launchers bind every rank to cores of its own: those of the host are all of them together.
    std::set<int> cores;
    for (const auto& theirs : network.all_gather(mine, most_line_bytes)) {
        std::istringstream words(theirs);
        std::string host;
        std::getline(words, host);
        if (host != placement.host) continue;
        ++placement.ranks_on_host;
        for (int core = 0; words >> core;) cores.insert(core);
    }
    placement.cores_on_host = std::max(1, static_cast<int>(cores.size()));
    return placement;
}

}  // namespace sotto
