#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What --seed-groups may be.
[[nodiscard]] const std::vector<std::string>& seed_group_choices();

/// Seed groups by name: "auto" (those of default_seed_groups), "all" (one group), "edges",
/// "all-pairs", "neighbourhoods" (every closed neighbourhood), "nearest:K" (every agent with its K
/// nearest others by hops, ties by number; up to n K pairs), "circulant:K" (every agent with the K
/// nearest by number, K even), or a FILE with the members of one group a line (agent numbers,
/// separated by blanks or commas; # starts a comment). Pairs need not be edges: a pair seed comes
/// from key agreement and costs no message. Groups of one agent are dropped.
/// @throws ConfigError for an unknown name or K, DataError naming file and line.
[[nodiscard]] std::vector<SeedGroup> make_seed_groups(const std::string& choice,
                                                      const Graph& graph);

/// Whether a choice is a FILE, and so names agents.
[[nodiscard]] bool is_seed_group_file(const std::string& choice);

/// Default choice: all pairs, or nearest:10 above 62 agents, which leaves a few per cent more noise
/// on sparse graphs with fewer streams per agent (docs/decisions/seed-groups.md).
[[nodiscard]] std::string default_seed_groups(int agents);

/// How much more noise a plan may leave, relative, to have fewer streams than with all its groups:
/// 0.02 for "auto" where the default is all pairs, else 0.
[[nodiscard]] double extra_noise_of(const std::string& choice, int agents);

/// Adds the number of groups and their members, in order.
void add_to(Hasher& hasher, std::span<const SeedGroup> groups);

}  // namespace sotto
