#pragma once

// What an agent asks of messages before it uses them; not installed.

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <string>

#include "sotto/net/network.hpp"

namespace sotto {

/// Where in the run a value came from.
struct ReceivedFrom {
    int sender, receiver;
    ExchangeId exchange;
};

/// Decided from what was received alone, so that how the job ends tells nothing about data.
/// @param first coordinate of the first value.
/// @throws NetworkError naming sender, receiver, round, step, coordinate and value, unless all
/// values lie within -limit and limit.
void require_message_in_range(const ReceivedFrom& from,
                              Eigen::Index first,
                              std::span<const double> values,
                              double limit);

/// The same of a secure sum, which no honest neighbours take beyond 2^62 words: one that lacks a
/// share, or has another, is a random number, and half of them are beyond.
/// @throws NetworkError naming the receiver and its neighbours.
void require_sum_in_range(int receiver,
                          std::span<const int> neighbours,
                          ExchangeId exchange,
                          Eigen::Index first,
                          std::span<const std::uint64_t> sum);

/// The same of what process 0 collects: `what` says what of. @throws NetworkError naming the agent.
[[nodiscard]] CollectedCheck require_collected_in_range(std::string what, double limit);

}  // namespace sotto
