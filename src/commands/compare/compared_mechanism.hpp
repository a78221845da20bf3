#pragma once

#include <string>
#include <vector>

#include "options/written_options.hpp"

namespace sotto {

/// One of the mechanisms that are compared, with what is said of it alone.
struct ComparedMechanism {
    std::string label;    ///< as the user wrote it
    OptionTexts options;  ///< of `sotto train`, mechanism among them
};

/// Mechanisms separated by commas: NAME or FILE.npy (a covariance of one's own), each with options
/// of its own behind plus signs, "pairs+coalition-size=2".
/// @throws ConfigError naming the word, for a mechanism or an option that does not exist, and for
/// one that is there twice.
[[nodiscard]] std::vector<ComparedMechanism> parse_compared_mechanisms(const std::string& option,
                                                                       const std::string& text);

}  // namespace sotto
