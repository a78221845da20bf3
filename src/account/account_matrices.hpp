#pragma once

#include <string>

#include "account/account_result.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

/// Figures of observations O = A G + B Z read from .npy files ([U] definition 5); `agents` columns
/// of A a round. The result has no observers and no distances.
[[nodiscard]] AccountResult account_matrices(const std::string& a_file,
                                             const std::string& b_file,
                                             int agents,
                                             const std::string& targets,
                                             double sensitivity,
                                             const Participation& participation,
                                             double delta);

}  // namespace sotto
