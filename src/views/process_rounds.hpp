#pragma once

#include <Eigen/Dense>
#include <vector>

#include "sotto/views/message_process.hpp"

namespace sotto {

/// Rounds whose noise one plan adds without a break; its temporal factor begins with the first.
struct NoiseStretch {
    const NoisePlan* plan = nullptr;
    long begin = 0;
    long rounds = 0;
};

/// Where every round of a process belongs.
struct ProcessRounds {
    static constexpr long beginning = -1;  ///< in place of a round: before the run, all is known
    std::vector<NoiseStretch> stretches;
    std::vector<int> phase;    ///< of every round
    std::vector<long> within;  ///< round of its phase
    std::vector<int> stretch;
    std::vector<long> training;  ///< training round, see MessageProcess::training_rounds
    std::vector<long> after;  ///< the round whose resulting models it starts from, or `beginning`
};
/// @throws ConfigError for more repeated rounds than there are.
[[nodiscard]] ProcessRounds process_rounds(const MessageProcess& process);

/// C_time of a stretch, rounds x rounds.
[[nodiscard]] Eigen::MatrixXd time_factor(const NoiseStretch& stretch);

}  // namespace sotto
