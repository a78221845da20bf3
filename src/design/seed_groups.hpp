#pragma once

#include <span>
#include <string>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Which agents share a seed: "all" (one group), "edges", "all-pairs", "neighbourhoods" (every
/// closed neighbourhood), "nearest:K" (every agent with the K others that are nearest by hops, of
/// those as near with the next by number; up to n K pairs), "circulant:K" (every agent with K
/// others, the nearest by number, K even), or a FILE with the members of one group a line (agent
/// numbers, separated by blanks or commas; # starts a comment). Pairs need not be edges: a pair
/// seed comes from key agreement and costs no message. Groups of one agent are left out.
/// @throws ConfigError for an unknown name or K, DataError naming file and line.
[[nodiscard]] std::vector<SeedGroup> make_seed_groups(const std::string& choice,
                                                      const Graph& graph);

/// Whether a choice is the name of a FILE, and so names agents.
[[nodiscard]] bool is_seed_group_file(const std::string& choice);

/// What is chosen when the user does not: all pairs, or above 62 agents nearest:10, which leaves a
/// few per cent more noise on sparse graphs and costs an agent fewer streams
/// (docs/decisions/seed-groups.md).
[[nodiscard]] std::string default_seed_groups(int agents);

/// Their number and members, in order.
void add_to(Hasher& hasher, std::span<const SeedGroup> groups);

}  // namespace sotto
