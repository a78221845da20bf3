#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/member_requests.hpp"

namespace sotto {

/// How a phase of a training ended, as one process knows it.
struct PhaseEnd {
    int exit_code = 0;
    MemberChange change{};        ///< none: the run ends
    Membership members{};         ///< who took part
    std::string run_directory{};  ///< of the run
};

/// Tells spares how a phase ended. COLLECTIVE over those who took part and those who wait.
/// @param own of a process that took part: it keeps what it knows, whatever rank 0 tells spares.
/// None where its agent waits: it has nothing but rank 0's word, by which only agents that wait can
/// join.  @param waiting numbers of those, ascending, as this process knows them.
/// @throws NetworkError for a word that is none, or lets others join.
[[nodiscard]] PhaseEnd share_end(Network& everybody,
                                 const std::optional<PhaseEnd>& own,
                                 const std::vector<int>& waiting);

}  // namespace sotto
