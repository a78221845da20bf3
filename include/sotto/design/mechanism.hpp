#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/names.hpp"
#include "sotto/design/design.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// With whom an agent shares seeds of its noise, beside those it has alone.
enum class SeedSharing {
    nobody,
    neighbours,   ///< one at a time
    seed_groups,  ///< the groups of DesignInput::seed_groups
    everybody     ///< one that all have
};

/// One way to protect a training, with all that is to be known of it. A new mechanism is a
/// function in a file of src/design/mechanisms that fills this in, and its line in the table there;
/// outside sotto it is a Registered<Mechanism>. Nothing else knows it by name.
struct Mechanism {
    std::string name;
    std::string summary;  ///< one line for people
    Design (*design)(const DesignInput&) = nullptr;
    bool needs_budget = true;  ///< false: adds no noise, epsilon is infinite
    /// Of its noise. Laplace: budgets are pure, gradients are clipped in L1 norm.
    StreamDistribution distribution = StreamDistribution::gaussian;
    Aggregation aggregation = Aggregation::gossip;  ///< of its messages
    /// What agents contribute may be the way that several steps of their own lead (--local-steps).
    bool local_updates = false;
    /// Against how many colluding agents it can be designed: none, or any number (then
    /// `default_coalition_size` is what it does when not asked).
    bool coalitions = false;
    int default_coalition_size = 0;
    NoiseEntry entry = NoiseEntry::gradient;  ///< of its noise
    SeedSharing sharing = SeedSharing::nobody;
    bool larger_groups = false;  ///< seed groups of more than two agents too
    /// Seeds are shared by the groups of DesignInput::seed_groups where some are chosen, and as
    /// `sharing` says where none are.
    bool takes_seed_groups = false;
    bool common_variance = false;  ///< of private noise, in every plan: see DesignInput
    /// It says how the noise of one round is correlated between agents, and may do so as part of
    /// another mechanism: as DesignInput::spatial.
    bool spatial_part = false;
    /// Its noise is correlated over rounds. Objectives are then those of the trajectory,
    /// Tr(H (X_time^-1 (x) R)), whatever the utility.
    bool correlates_rounds = false;
    bool takes_temporal = false;    ///< DesignInput::temporal says what its factor may look like
    bool takes_covariance = false;  ///< DesignInput::covariance says its R
    bool takes_spatial = false;     ///< DesignInput::spatial says how agents' noise is correlated
    /// False where the utility only rates the plan and does not shape it.
    bool uses_utility = true;

    /// Its rounds are independent Gaussian noise on gradients, for which secretly sampled batches
    /// are accounted.
    [[nodiscard]] bool independent_rounds() const {
        return needs_budget && distribution == StreamDistribution::gaussian &&
               entry == NoiseEntry::gradient && !correlates_rounds;
    }
    /// Uses DesignInput::seed_groups, whether some are chosen or not, and common_variance.
    [[nodiscard]] bool seed_groups() const { return sharing == SeedSharing::seed_groups; }
    /// Can use DesignInput::seed_groups.
    [[nodiscard]] bool allows_seed_groups() const { return seed_groups() || takes_seed_groups; }
};

/// All mechanisms, from the simplest on: sotto's own, and those registered since.
[[nodiscard]] Registry<Mechanism>& mechanisms();
/// @param option that gave the name, for the message.
/// @throws ConfigError suggesting the nearest name.
[[nodiscard]] const Mechanism& find_mechanism(std::string_view option, std::string_view name);

/// Names of the mechanisms with a property, for lists in texts: mechanisms_with(
/// &Mechanism::takes_temporal).
[[nodiscard]] std::vector<std::string> mechanisms_with(
    const std::function<bool(const Mechanism&)>& property);
/// The same from the last on, for texts that recommend: the table goes from simple to good.
[[nodiscard]] std::vector<std::string> recommended_mechanisms(
    const std::function<bool(const Mechanism&)>& property);

/// @throws ConfigError listing those that can, if the mechanism is no spatial part of others.
void require_spatial_part(const Mechanism& mechanism);

}  // namespace sotto
