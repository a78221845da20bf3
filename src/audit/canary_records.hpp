#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/net/network.hpp"
#include "tasks/local_task.hpp"

namespace sotto {

/// Canaries of an audit unless the user wants another number, at least, and at most.
inline constexpr long default_canary_records = 1000;
inline constexpr long fewest_canary_records = 400;
inline constexpr long most_canary_records = 20000;

/// Records whose gradients are known, in the shard of an agent whose batches are secretly sampled:
/// every canary is a trial of its own (Steinke, Nasr, Jagielski 2023, Privacy auditing with one
/// training run). Canary i has its gradient in coordinate i alone, longer than the clip, and is in
/// the shard or not (zeroed out) by a fair coin that nobody knows. Beside them there are
/// companions, always in the shard, whose gradients all lie in one more coordinate: it shows how
/// many of them joined a batch.
struct CanaryRecords {
    int target = 0;
    std::uint64_t seed = 1;    ///< of who is in the shard
    long trials = 0;           ///< canaries
    std::vector<int> members;  ///< of the view, ascending: they have all canaries in their shards,
                               ///< so that their own gradients show their own coins

    static constexpr long companions_of_a_canary = 3;

    [[nodiscard]] long companions() const { return companions_of_a_canary * trials; }
    /// Of every agent's shard, there or zeroed out. Canaries stand first.
    [[nodiscard]] long records() const { return trials + companions(); }
    /// Coordinates of the models: one a canary, and that of the companions, the last.
    [[nodiscard]] Eigen::Index dimension() const { return trials + 1; }
    /// +1 of canaries that are in the target's shard, -1 of those that are not; independent.
    [[nodiscard]] Eigen::VectorXd signs() const;

    [[nodiscard]] bool operator==(const CanaryRecords&) const = default;
};

/// What is needed to look at the recordings again, as text ("format": "sotto-canary-records",
/// "version": 1).
[[nodiscard]] std::string to_json(const CanaryRecords& canaries);
/// @throws DataError naming the source and what is wrong.
[[nodiscard]] CanaryRecords canary_records_from_json(std::string_view text,
                                                     const std::string& source);

/// Shards of the agents of this process: canaries of the target as their coins fell, of members
/// all, of everybody else none. Objectives are those of task averaging, which clip every record's
/// gradient. LOCAL.
/// @param clip_norm C; gradients are 2 C long.
[[nodiscard]] LocalTask make_canary_record_task(const CanaryRecords& canaries,
                                                double clip_norm,
                                                const Network& network);

}  // namespace sotto
