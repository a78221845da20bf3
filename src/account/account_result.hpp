#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

/// Most pairs of observer and target that one account asks about.
inline constexpr double most_accounted_pairs = 2e7;

/// What one observer learns about one target.
struct PairFigure {
    std::vector<int> observers;
    int target = 0;
    int distance = -1;  ///< to the nearest observer; -1 without one
    SquaredSensitivity squared;
    Guarantee guarantee;     ///< for the distance Delta sqrt(squared.certified())
    Guarantee eavesdropper;  ///< against an eavesdropper on all messages
    /// By every bound of view_bounds(), if it applies; or empty.
    std::vector<std::optional<Guarantee>> published;
    Argument argument;
};

/// Renyi divergence of order 2, which is mu^2; may be infinite. NaN if the loss has no mu.
[[nodiscard]] double renyi_of_order_two(const Guarantee& guarantee);

struct DistanceFigures {
    double min = 0, mean = 0, max = 0;             ///< may be infinite
    double ldp = 0;                                ///< mean
    std::vector<std::optional<double>> published;  ///< mean, as for pairs
};
struct DistanceRow {
    int distance = 0;
    int pairs = 0, infinite = 0;
    DistanceFigures epsilon;
    DistanceFigures renyi;  ///< renyi_of_order_two
};

struct CoalitionSearch {
    int size = 0;
    double total = 0;    ///< coalitions of that size
    long evaluated = 0;  ///< coalitions of any size
    bool exhaustive = false;
    bool bound_attained = false;  ///< the result reaches the upper bound: no coalition is worse
    /// Large plans: every figure is a bound for all coalitions, and the one named reaches mu at
    /// least within this share of it. Nothing was searched.
    std::optional<double> near_gap;
    Guarantee upper;  ///< no coalition of this size learns more; may be infinite
};

/// What is learnt about one agent if messages are lost (DropoutPrecision).
struct DropoutFigure {
    int target = 0;
    /// Empty if the case does not occur (the agent is missing, or is not).
    std::optional<Guarantee> silent, revealed, late;
};

struct DropoutAccount {
    std::vector<int> missing;  ///< in every round; empty: any `most` agents in each
    int most = 0;
    std::vector<DropoutFigure> figures;
    /// The largest over the targets; empty if none has it.
    DropoutFigure worst;
};

/// What is learnt about persons with records at several agents (worst_person).
struct PersonAccount {
    int agents = 1;          ///< K
    WorstPerson worst;       ///< of the last plan
    Guarantee guarantee;     ///< of every such person, certified
    Guarantee at_least;      ///< of the sets found; of several plans or sampled rounds no bound
    bool exhaustive = true;  ///< every set of agents was tried
    double probability = 1;  ///< joint_probability of rounds that are sampled
    int plans = 0;           ///< phases and surveys whose losses add up
};

struct AccountResult {
    std::string view;
    std::vector<PairFigure> pairs;  ///< worst first
    std::vector<DistanceRow> by_distance;
    double mean_epsilon = 0;  ///< over all pairs; may be infinite
    Guarantee eavesdropper;   ///< largest over the targets; unknown for matrices
    std::optional<CoalitionSearch> search;
    std::optional<DropoutAccount> dropouts;
    std::optional<PersonAccount> persons;
    double seconds = 0;  ///< without planning

    /// Whether a view reveals a noiseless function of some target's input.
    [[nodiscard]] bool breaks_protection() const;
    [[nodiscard]] bool is_guarantee() const;
    /// Whether every loss by distance has a Renyi divergence of order 2.
    [[nodiscard]] bool has_renyi() const;
    /// Whether a bound of view_bounds() applies to some pair.
    [[nodiscard]] bool has_published(std::size_t bound) const;
};

/// The pairs, worst first, with derived figures; `eavesdropper`, `search` and `seconds` stay unset.
[[nodiscard]] AccountResult account_of_pairs(std::string view, std::vector<PairFigure> pairs);

}  // namespace sotto
