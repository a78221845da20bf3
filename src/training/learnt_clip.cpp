#include "training/learnt_clip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/numbers.hpp"
#include "net/agreement.hpp"
#include "options/option_formats.hpp"
#include "planning/budgets.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

namespace {

constexpr double largest_rate = 0.2;

[[noreturn]] void refuse(const std::string& why) {
    throw ConfigError(fmt::format("clip-norm: learnt is not possible {} (allowed: a number)", why));
}

void require_learnable(const TrainConfig& config, const LocalTask& task) {
    if (configured_noise(config.plan) == StreamDistribution::laplace)
        refuse(fmt::format("with mechanism {}, which clips in L1 norm", config.plan.mechanism));
    if (task.fixed_inputs || task.coordinates || task.rows_are_rounds)
        refuse(fmt::format("with task {}, whose gradients are its data", config.task.task));
}

/// Standard deviation of the noise that hides the least protected agent in one round.
double noise_std_of(const SettledPlan& config,
                    int agents,
                    const std::vector<Eigen::Index>& records) {
    if (config.noise_std) return *config.noise_std;
    const auto [exposures, budgets] = count_rounds(config, agents, records);
    double precision = infinity;
    for (std::size_t u = 0; u < budgets.size(); ++u)
        precision = std::min(precision, precision_limit(budgets[u], exposures[u]));
    return 1 / std::sqrt(precision);
}

QuantileClip clip_without_gain(const TrainConfig& config) {
    return {config.clip.quantile, config.clip.share, config.plan.clip_norm, 1};
}

}  // namespace

QuantileClip configured_clip(const TrainConfig& config) {
    QuantileClip clip = clip_without_gain(config);
    clip.gain =
        gain_of(clip, config.clip.rate.value(), config.plan.steps.step_size, config.plan.momentum);
    return clip;
}

double clip_rate_for(const TrainConfig& config,
                     int agents,
                     const std::vector<Eigen::Index>& records) {
    constexpr double waver = 0.2, pull = 0.4, kept = 4;
    if (!find_mechanism("mechanism", config.plan.mechanism).needs_budget) return largest_rate;
    const QuantileClip clip = clip_without_gain(config);
    // Standard deviation of the noise on the measured part, in units of that part.
    const double std = noise_std_of(static_cast<const PlanConfig&>(config.plan), agents, records) /
                       (clip.within(clip.start) + clip.beyond(clip.start));
    const double variance = std * std * std::min(1.0, kept / agents);
    return std::min(largest_rate, 2 * pull * waver * waver / variance);
}

void learn_clip(TrainConfig& config, Control& network, LocalTask& task) {
    constexpr std::size_t most_bytes = 40;
    const bool learns = config.plan.learn_clip;
    std::string own;  // rate of process 0; empty: it learns no clip
    network.agree([&] {
        if (!learns) return;
        require_learnable(config, task);
        if (network.process() == 0)
            own =
                real_text(config.clip.rate ? *config.clip.rate
                                           : clip_rate_for(config, network.agents(), task.records));
    });
    hear_process_0(network, own, most_bytes, [&](const std::string& said) {
        if (said.empty() == learns)
            throw NetworkError(
                fmt::format("rank {} {} its clip (--clip-norm), rank 0 {}; start all ranks with "
                            "--clip-norm learnt, or none",
                            network.process(),
                            learns ? "learns" : "is given",
                            learns ? "does not" : "learns it"));
        if (!learns || config.clip.rate) return;
        const double rate = parse_real("rate of the clip", said);
        if (!(rate > 0 && rate <= 1))
            throw NetworkError(fmt::format(
                "rank 0 chose {} for the rate of the clip (allowed: above 0, up to 1)", said));
        config.clip.rate = rate;
    });
    if (!learns) return;
    const QuantileClip clip = configured_clip(config);
    network.agree([&] {
        for (auto& objective : task.objectives)
            objective = make_quantile_clipping(std::move(objective), clip);
    });
    task.initial.conservativeResize(task.initial.size() + 1);
    task.initial(task.initial.size() - 1) = 0;
}

std::vector<std::string> clip_statements(const TrainConfig& config) {
    if (!config.plan.learn_clip) return {};
    const QuantileClip clip = configured_clip(config);
    const double reach = *config.clip.rate * std::max(clip.quantile, 1 - clip.quantile) *
                         static_cast<double>(config.plan.rounds);
    return {fmt::format(
        "the clip is learnt, from {:g}: it follows the {:g} quantile of gradients' norms. Noise "
        "hides "
        "gradients and what is counted of their norms together: {:g} of mu^2 pays for the count, "
        "{:g} "
        "for the gradients (in the figures above). In these rounds it moves by a factor of {:.3g} "
        "at most, either way",
        clip.start,
        clip.quantile,
        clip.share,
        1 - clip.share,
        std::exp(std::min(reach, 30.0)))};
}

void require_given_clip(const PlanConfig& config) {
    if (config.learn_clip) refuse("here, where contributions are given and no clip is learnt");
}

}  // namespace sotto
