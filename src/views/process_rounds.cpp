#include "views/process_rounds.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/plan/lagged_noise.hpp"

namespace sotto {

ProcessRounds process_rounds(const MessageProcess& process) {
    ProcessRounds result;
    std::vector<long> history;  // the rounds that led to the present models
    long round = 0;
    for (std::size_t i = 0; i < process.phases.size(); ++i) {
        const Phase& phase = process.phases[i];
        const auto done = static_cast<long>(history.size());
        if (phase.repeated < 0 || phase.repeated > done)
            throw ConfigError(
                fmt::format("phases: {} repeated rounds are not allowed (0 to {}, the training "
                            "rounds before the phase)",
                            phase.repeated,
                            done));
        history.resize(static_cast<std::size_t>(done - phase.repeated));
        if (i == 0 || phase.plan != nullptr || process.phases[i - 1].plan != nullptr)
            result.stretches.push_back({&process.plan_of(phase), round, 0});
        result.stretches.back().rounds += phase.rounds;
        for (long within = 0; within < phase.rounds; ++within, ++round) {
            result.phase.push_back(static_cast<int>(i));
            result.within.push_back(within);
            result.stretch.push_back(static_cast<int>(result.stretches.size()) - 1);
            result.training.push_back(static_cast<long>(history.size()));
            result.after.push_back(history.empty() ? ProcessRounds::beginning : history.back());
            history.push_back(round);
        }
    }
    return result;
}

Eigen::MatrixXd time_factor(const NoiseStretch& stretch) {
    if (stretch.plan->temporal.kind == TemporalFactor::Kind::identity)
        return Eigen::MatrixXd::Identity(stretch.rounds, stretch.rounds);
    return dense_factor(stretch.plan->temporal, stretch.rounds);
}

}  // namespace sotto
