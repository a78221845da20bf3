#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"

namespace sotto {

/// What `sotto audit` is asked.
struct AuditConfig {
    TrainConfig train;  ///< the run; where inputs are fixed in advance its task counts as far as
                        ///< AttackRecord::options say, and for the seed
    std::string attack = "likelihood";  ///< of the table attacks()
    std::string view = "eavesdropper";
    double level = 0.99;  ///< confidence
    /// A run that was made by an audit before: its recordings are analysed, nothing runs.
    std::optional<std::string> run;
    std::optional<std::string> report;  ///< FILE of a page that draws the attack

    // Likelihood alone.
    std::optional<int> target;       ///< none: the agent the view learns most about
    std::string hypothesis = "all";  ///< "constant", "random", "worst"
    std::optional<long> trials;      ///< of every hypothesis; none: as the wanted width asks
    double width = 0.05;             ///< half width of the interval of mu, relative to mu
};

}  // namespace sotto
