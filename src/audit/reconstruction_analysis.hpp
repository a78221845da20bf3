#pragma once

#include <filesystem>

#include "audit/contributed_rows.hpp"
#include "audit/reconstruction_result.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Looks at recordings and public facts (graph, mixing, plan, steps) and nothing else, estimates
/// the rows of all agents that are not members together, and compares with the truth afterwards.
/// Under Gaussian noise the mean squared error of a row, over its coordinates, is the bound times a
/// chi-squared variable over its degrees of freedom; with a smaller one than chance allows the run
/// hid less than the accountant says. @param views folder `views` of the run directory.
/// @return mechanism, findings and what the attack alone has.
[[nodiscard]] ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                                          const MessageProcess& process,
                                                          const View& view,
                                                          const Rows& rows,
                                                          double level,
                                                          int threads);

}  // namespace sotto
