#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sotto/experiment/config.hpp"
#include "sotto/experiment/plan_job.hpp"
#include "sotto/experiment/view_query.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/composition.hpp"
#include "sotto/privacy/plan_use.hpp"
#include "sotto/privacy/view.hpp"

namespace sotto {

/// What `sotto account` is asked.
struct AccountConfig {
    GraphConfig graph;
    PlanConfig plan;
    std::string view = "all-nodes";
    std::string targets = "all";
    std::optional<double> sensitivity;  ///< Delta, instead of what adjacency and clip imply
    double l2 = 0;                      ///< regularisation of the training
    bool fixed_inputs = false;          ///< inputs do not depend on messages
    std::string departures;             ///< "ROUND:a,b;ROUND:c"
    double tight_gap = ViewOptions{}.tight_gap;  ///< see ViewOptions
    int threads = 1;
};

/// What one observer learns about one target.
struct PairFigure {
    std::vector<int> observers;
    int target = 0;
    int distance = -1;  ///< from the nearest observer; -1 without one
    SquaredSensitivity squared;
    Guarantee guarantee;                      ///< of the loss Delta sqrt(squared.certified())
    double ldp_epsilon = 0;                   ///< against an eavesdropper on all messages
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
    Guarantee ldp;            ///< largest over the targets
    std::optional<CoalitionSearch> search;
    double seconds = 0;  ///< without solving the plan
};

/// Graph, plan and rounds an account is about. The same on every process.
struct AccountSubject {
    AccountSubject(BuiltTopography topography, NoisePlan noise);
    AccountSubject(const AccountSubject&) = delete;
    AccountSubject& operator=(const AccountSubject&) = delete;
    BuiltTopography built;
    NoisePlan plan;
    std::vector<Exposure> exposures;  ///< one per agent; sens2 counts the plan's temporal factor
    double delta = 0;                 ///< of its guarantees; 0 under Laplace noise
    PlanUse use;
    MessageProcess process;  ///< points to the graph and the plan of this object
    double plan_seconds = 0;
    /// Of a training that was read again (account_subject_of), which `process` borrows from.
    std::vector<PrivacyPhase> phases;
    std::vector<NoisePlan> phase_plans;
};
/// Builds the graph and solves the plan on process 0, for all. COLLECTIVE.
/// @throws ConfigError, DataError, PrivacyError.
[[nodiscard]] std::unique_ptr<AccountSubject> build_account_subject(const AccountConfig& config,
                                                                    Network& network);

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

/// A mixing matrix of places as one of all agents of the run: who is gone keeps what it has.
[[nodiscard]] MixingMatrix mixing_of_all(const Graph& graph,
                                         const MixingMatrix& mixing,
                                         const Membership& members);

/// Phases of a run in which agents leave ("ROUND:a,b;ROUND:c": before round ROUND, counted from 0).
/// The mixing rule is applied to those who stay; an agent that left keeps weight 1 on itself.
/// @throws ConfigError for rounds that do not ascend inside the run, agents that do not exist or
/// left before, or mixing that is not a rule.
[[nodiscard]] std::vector<Phase> phases_of(const Topography& topography,
                                           const std::string& mixing,
                                           const std::string& departures,
                                           long rounds);

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
