#pragma once

#include <map>
#include <string>
#include <vector>

#include "commands/supervise/launcher_words.hpp"

namespace sotto::cli {

/// An address of an interface, with the length of its network's prefix: "eth0", 10.0.0.7, 24.
struct HostAddress {
    std::string interface;
    std::string address;
    int prefix = 0;
};

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

/// The answer in what a host printed; one without name where it is none.
[[nodiscard]] HostAnswer host_answer(const std::string& printed);

}  // namespace sotto::cli
