#pragma once

#include <filesystem>

#include "audit/likelihood_result.hpp"
#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Looks at recordings of a run and at nothing else: merges what the members of the view recorded,
/// runs the optimal test of every trial, and compares with the accountant's figures.
/// @param views folder `views` of the run directory.  @param process the run as its plan says.
/// @return mechanism, findings and what the attack alone has.
[[nodiscard]] LikelihoodResult analyse_likelihood(const std::filesystem::path& views,
                                                  const MessageProcess& process,
                                                  const View& view,
                                                  const AuditDesign& design,
                                                  double delta,
                                                  double level,
                                                  int threads);

}  // namespace sotto
