#pragma once

#include <map>
#include <string>
#include <vector>

#include "commands/supervise/launcher_words.hpp"
#include "net/host_networks.hpp"

namespace sotto::cli {

/// What a host says about itself.
struct HostAnswer {
    std::string name;
    std::vector<HostAddress> addresses;  ///< of IPv4, but for the loopback's
};

/// Asks all hosts at once, by the remote shell that mpirun uses, for at most `patience` seconds.
/// @param logs a folder that each makes, for its owner only; empty: none.
/// @param session a folder for what they say.
/// @return those that answer, by the name they were asked with.
[[nodiscard]] std::map<std::string, HostAnswer> ask_hosts(const LauncherWords& words,
                                                          const std::vector<std::string>& hosts,
                                                          const std::string& logs,
                                                          const std::string& session,
                                                          double patience = 20);

/// Whether this is a name or an address of this machine.
[[nodiscard]] bool is_here(const std::string& host);

/// Options of Open MPI's mpirun that name the network all hosts share (chosen_network), for ranks,
/// and for mpirun where its host shares one; none where the words name one already, or start one
/// host only, or a host does not answer, or there is none.
[[nodiscard]] std::vector<std::string> network_words(
    const LauncherWords& words, const std::map<std::string, HostAnswer>& answers);

/// The answer in what a host printed; one without name where it is none.
[[nodiscard]] HostAnswer host_answer(const std::string& printed);

}  // namespace sotto::cli
