#pragma once

#include "config/config.hpp"

namespace sotto {

// What options must be to each other; what one must be by itself is in its declaration.

/// @throws ConfigError for units of records (--unit-column) where agents are protected as a whole.
void require_records_of_units(const TrainConfig& config);

/// Noise of a given standard deviation leaves no room for a budget. @throws ConfigError.
void require_one_source_of_noise(const PlanConfig& config);
/// A mechanism has the covariance that it takes, and no other has one. @throws ConfigError.
void require_covariance_file(const PlanConfig& config);
/// Agents prove who they are with both files, or with none. @throws ConfigError.
void require_roster_with_identity(const TrainConfig& config);
/// Agents leave a run that is taken up, or it ends; no other. @throws ConfigError.
void require_run_to_take_up(const TrainConfig& config);
/// Only a dry run imagines a network. @throws ConfigError.
void require_dry_run_with_network(const TrainConfig& config);
/// Rounds are padded where nobody knows the size of a batch. @throws ConfigError.
void require_sampling_with_padding(const TrainConfig& config);
/// How a clip is learnt has a meaning where one is. @throws ConfigError.
void require_learnt_clip(const TrainConfig& config);
/// Who is asked comes before who is given up. A warning time that is not given is at most half of
/// the time to abort. @throws ConfigError.
void settle_stall_limits(TrainConfig& config, bool warning_given);

/// All of them.
void settle_train_config(TrainConfig& config, bool warning_given);

}  // namespace sotto
