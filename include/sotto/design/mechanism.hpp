#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/names.hpp"
#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Agents with whom an agent shares noise seeds, besides seeds of its own.
enum class SeedSharing {
    nobody,
    neighbours,   ///< pairwise
    seed_groups,  ///< the groups of DesignInput::seed_groups
    everybody     ///< one seed held by all
};

/// A way to protect a training. To add a mechanism, fill this in with a function in a file of
/// src/design/mechanisms and add it to the table there; outside sotto, use Registered<Mechanism>.
/// No other code knows a mechanism by name.
struct Mechanism {
    std::string name;
    std::string summary;  ///< one line for users
    Design (*design)(const DesignInput&) = nullptr;
    bool needs_budget = true;  ///< false: adds no noise, epsilon is infinite
    /// Distribution of the noise. Laplace: budgets are pure, gradients are clipped in L1 norm.
    StreamDistribution distribution = StreamDistribution::gaussian;
    Aggregation aggregation = Aggregation::gossip;  ///< of the messages
    /// Agents may contribute the result of several local steps (--local-steps).
    bool local_updates = false;
    /// Can be designed against any number of colluding agents, otherwise none;
    /// `default_coalition_size` is the default.
    bool coalitions = false;
    int default_coalition_size = 0;
    NoiseEntry entry = NoiseEntry::gradient;  ///< of the noise
    SeedSharing sharing = SeedSharing::nobody;
    bool larger_groups = false;  ///< seed groups may have more than two agents
    /// Seeds are shared by DesignInput::seed_groups if any are given, otherwise as in `sharing`.
    bool takes_seed_groups = false;
    bool common_variance = false;  ///< of private noise, in every plan (DesignInput)
    /// It correlates the noise of one round between agents, and can be part of another mechanism
    /// (DesignInput::spatial).
    bool spatial_part = false;
    /// Its noise is correlated over rounds. Objectives are then those of the trajectory, Tr(H
    /// (X_time^-1 (x) R)), for every utility.
    bool correlates_rounds = false;
    bool takes_temporal = false;    ///< uses DesignInput::temporal
    bool takes_covariance = false;  ///< uses DesignInput::covariance
    bool takes_spatial = false;     ///< uses DesignInput::spatial
    /// False if the utility only rates the plan.
    bool uses_utility = true;

    /// Noise is Gaussian, on gradients and independent between rounds: secretly sampled batches can
    /// be accounted.
    [[nodiscard]] bool independent_rounds() const {
        return needs_budget && distribution == StreamDistribution::gaussian &&
               entry == NoiseEntry::gradient && !correlates_rounds;
    }
    /// Always uses DesignInput::seed_groups and common_variance.
    [[nodiscard]] bool seed_groups() const { return sharing == SeedSharing::seed_groups; }
    /// Can use DesignInput::seed_groups.
    [[nodiscard]] bool allows_seed_groups() const { return seed_groups() || takes_seed_groups; }
};

/// All mechanisms, simplest first: sotto's own, then registered ones.
[[nodiscard]] Registry<Mechanism>& mechanisms();
/// @param option whose value the name is, for the message.
/// @throws ConfigError suggesting the nearest name.
[[nodiscard]] const Mechanism& find_mechanism(std::string_view option, std::string_view name);

/// Names of the mechanisms with a property: mechanisms_with(&Mechanism::takes_temporal).
[[nodiscard]] std::vector<std::string> mechanisms_with(
    const std::function<bool(const Mechanism&)>& property);
/// The same in reverse order, for recommendations: the table goes from simple to good.
[[nodiscard]] std::vector<std::string> recommended_mechanisms(
    const std::function<bool(const Mechanism&)>& property);

/// @throws ConfigError listing the mechanisms that can, unless this one can be a spatial part.
void require_spatial_part(const Mechanism& mechanism);

}  // namespace sotto
