#pragma once

#include "audit/attack.hpp"

namespace sotto {

/// Which canary records does an agent have, whose batches are secretly sampled (--participation
/// poisson)? One run with the production sampler, clipper, noise and network; every canary is a
/// trial (CanaryRecords, analyse_canary_records). A run directory keeps canary-records.json.
[[nodiscard]] AttackRecord canary_record_attack();

/// Records of an agent in an audit of this many canaries (none: the default), whose batches have
/// q = batch size / records.
/// @throws ConfigError for a number of canaries or a batch size that is not possible, and for
/// options that secret sampling excludes here: --sampling-probability, and a --noise-seed that is
/// --seed.
[[nodiscard]] long canary_records_of(const AuditConfig& config);

}  // namespace sotto
