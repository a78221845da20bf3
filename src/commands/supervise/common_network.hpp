#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "commands/supervise/host_answers.hpp"

namespace sotto::cli {

/// Networks in which every host has an address of its own, "10.0.0.0/24", in the order of the first
/// host's interfaces. One like docker0's, which has the same address everywhere, is none.
[[nodiscard]] std::vector<std::string> common_networks(
    const std::map<std::string, HostAnswer>& answers);

/// Which of them messages are to take: the one that the hosts' own names lead to, otherwise all.
/// Separated by commas; empty: there is none.
/// @param resolve an address of IPv4 for a name, empty where there is none.
[[nodiscard]] std::string chosen_network(
    const std::map<std::string, HostAnswer>& answers,
    const std::function<std::string(const std::string&)>& resolve);

/// By the system's resolver.
[[nodiscard]] std::string resolved_address(const std::string& name);

/// Options of Open MPI's mpirun that name the network; none where the words name one already, or
/// start one host only, or a host does not answer, or there is none.
[[nodiscard]] std::vector<std::string> network_words(
    const LauncherWords& words, const std::map<std::string, HostAnswer>& answers);

}  // namespace sotto::cli
