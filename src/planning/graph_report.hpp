#pragma once

#include <string>
#include <vector>

#include "planning/build_topography.hpp"

namespace sotto {

/// What `sotto graph` says about a graph and its mixing matrix.
struct GraphReport {
    std::string description;         ///< as BuiltTopography
    std::vector<std::string> notes;  ///< as BuiltTopography
    std::string mixing;              ///< rule or file, as the user names it
    int agents = 0;
    std::size_t edges = 0;
    bool connected = false;
    bool directed = false;
    int degree_min = 0, degree_max = 0;  ///< agents that one hears
    /// Smallest and largest n pi_u (perron_vector): 1 where all count alike in what is learnt.
    double perron_min = 1, perron_max = 1;
    double lambda2 = 0;  ///< second largest eigenvalue of the mixing matrix, by modulus
    bool doubly_stochastic = false, push_sum = false;
    std::string graph_hash;  ///< hexadecimal
};

/// Cost: that of second_eigenvalue_modulus and perron_vector.
[[nodiscard]] GraphReport describe_graph(const BuiltTopography& built, std::string mixing);

/// The JSON object of `sotto graph` (docs/cli.md), as text, and the same for people.
[[nodiscard]] std::string graph_report_json(const GraphReport& report);
[[nodiscard]] std::string graph_report_text(const GraphReport& report);

}  // namespace sotto
