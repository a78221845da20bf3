#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sotto/net/network.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Options that decide what processes exchange, and how, must be the same everywhere, or ranks
/// would wait for each other or read each other's bytes wrongly. COLLECTIVE. @throws NetworkError
/// naming the first that differs, the same on every process.
void verify_same_options(Network& network, const TrainConfig& config);

/// What the ledger says about how this run carries messages and what it writes down.
/// @param optimality_gap whether evaluation sends exact derivatives.
[[nodiscard]] std::vector<std::string> transport_statements(const TrainConfig& config,
                                                            const Network& network,
                                                            const NoisePlan& plan,
                                                            bool optimality_gap);

}  // namespace sotto
