#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/account_subject.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/guarantee.hpp"
#include "sotto/privacy/plan_use.hpp"
#include "sotto/views/view.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

/// What `sotto account` is asked.
struct AccountConfig : SubjectConfig {
    std::string view = "all-nodes";
    std::string targets = "all";
    ViewOptions how;
};

/// What one observer learns about one target.
struct PairFigure {
    std::vector<int> observers;
    int target = 0;
    int distance = -1;  ///< from the nearest observer; -1 without one
    SquaredSensitivity squared;
    Guarantee guarantee;                      ///< of the distance Delta sqrt(squared.certified())
    double eavesdropper_epsilon = 0;          ///< against an eavesdropper on all messages
    std::optional<double> muffliato_epsilon;  ///< [U] 7.1, where it applies
    Argument argument;
};

/// Largest, smallest and mean epsilon over the pairs of one distance.
struct DistanceRow {
    int distance = 0;
    int pairs = 0, infinite = 0;
    double min = 0, mean = 0, max = 0;  ///< epsilon; may be infinite
    double ldp = 0;                     ///< mean
    std::optional<double> muffliato;    ///< mean
};

/// How the worst coalition was looked for, and what that proves.
struct CoalitionSearch {
    int size = 0;
    double total = 0;    ///< coalitions of that size
    long evaluated = 0;  ///< coalitions of any size
    bool exhaustive = false;
    bool bound_attained = false;  ///< the coalition found reaches the upper bound: none is worse
    Guarantee upper;              ///< no coalition of this size learns more; may be infinite
};

struct AccountResult {
    std::string view;
    std::vector<PairFigure> pairs;  ///< worst first
    std::vector<DistanceRow> by_distance;
    double mean_epsilon = 0;  ///< over all pairs; may be infinite
    Guarantee eavesdropper;   ///< largest over the targets; not known for matrices
    std::optional<CoalitionSearch> search;
    double seconds = 0;  ///< without solving the plan
};

/// Up to how many coalitions worst-coalition:q looks at every one.
inline constexpr double most_coalitions_searched = 1000;

/// Runs the accountant: the observers are spread over the processes, and over the threads of each.
/// Above most_coalitions_searched coalitions the worst one is looked for greedily (agent by agent,
/// the one that adds most to the largest mu over the targets), then single members are exchanged
/// for others as long as that helps: a lower bound of the worst. It ends early where the upper
/// bound is reached: all messages seen, with the seeds of the worst coalition, or, where these are
/// too many to try, with every shared seed known. COLLECTIVE; every process has the result.
[[nodiscard]] AccountResult run_account(const AccountConfig& config,
                                        const AccountSubject& subject,
                                        Network& network);

/// The JSON object of `sotto account` (docs/cli.md), as text.
[[nodiscard]] std::string account_report_json(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);
/// The same for people.
[[nodiscard]] std::string account_report_text(const AccountResult& result,
                                              const AccountConfig& config,
                                              const AccountSubject& subject);

/// Figures of observations O = A G + B Z read from .npy files ([U] definition 5); `agents` columns
/// of A a round. The result has no observers and no distances.
[[nodiscard]] AccountResult account_matrices(const std::string& a_file,
                                             const std::string& b_file,
                                             int agents,
                                             const std::string& targets,
                                             double sensitivity,
                                             const Participation& participation,
                                             double delta);

[[nodiscard]] std::string matrices_report_json(const AccountResult& result,
                                               double sensitivity,
                                               double delta);
[[nodiscard]] std::string matrices_report_text(const AccountResult& result,
                                               double sensitivity,
                                               double delta);

/// The table by distance, one line a distance, for plotting programs; with a name that ends in .svg
/// the picture, drawn by gnuplot, and the table beside it under the name with .txt added.
/// @throws ConfigError if a file cannot be written or there is no gnuplot.
void write_by_distance(const AccountResult& result, const std::string& path);
/// Finds out before a long job whether write_by_distance will fail. @throws ConfigError.
void require_by_distance_writable(const std::string& path);

}  // namespace sotto
