#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "net/control.hpp"

namespace sotto {

/// Names what differs: the rank, what it holds, what process 0 holds.
using DescribeDifference = std::function<std::string(
    std::size_t rank, const std::string& theirs, const std::string& process_0)>;

/// @throws NetworkError, the same on every process, about the lowest rank whose bytes differ from
/// those of process 0. COLLECTIVE.
void require_same_everywhere(Control& network,
                             const std::string& own,
                             const DescribeDifference& describe);

/// Checks that every process was started with the same options. COLLECTIVE.
/// @param options one per line, in the same order everywhere.
/// @throws NetworkError naming the first that differs, the same on every process.
void require_same_options(Control& network, const std::string& options);

/// Reads what process 0 says, in an agreed step on every process. COLLECTIVE.
/// @param own of process 0; ignored elsewhere.
/// @param read may be called with bytes of a process 0 that deviates.
/// @throws NetworkError, the same on every process, if process 0 said something else to one than to
/// itself, or says what `read` refuses with a ConfigError; other errors as they are.
void hear_process_0(Control& network,
                    const std::string& own,
                    std::uint64_t most_bytes,
                    const std::function<void(const std::string& said)>& read);

}  // namespace sotto
