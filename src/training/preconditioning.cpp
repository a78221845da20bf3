#include "training/preconditioning.hpp"

#include <fmt/format.h>

#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"
#include "training/train_report.hpp"

namespace sotto {

Preconditioning configured_preconditioning(const Run& run) {
    // What is left of shared noise is this times its size before mixing.
    constexpr double difference = 1e-4;
    constexpr int most_exchanges = 1000;
    Preconditioning options{.every = run.config.plan.precondition_every};
    if (options.every == 0) return options;
    options.noise_variance = mean_noise_variance(run.plan);
    if (run.plan.aggregation == Aggregation::gossip)
        options.consensus = consensus_gossip(run.topography.mixing, difference, most_exchanges);
    return options;
}

void require_possible_preconditioner(const Run& run) {
    const TrainConfig& config = run.config;
    if (config.plan.precondition_every == 0) return;
    const auto refuse_if = [&](bool refused, const std::string& why) {
        if (refused)
            throw ConfigError(fmt::format("precondition-every: {} is not possible {} (allowed: 0)",
                                          config.plan.precondition_every,
                                          why));
    };
    refuse_if(
        !run.plan.noiseless() &&
            !find_mechanism("mechanism", config.plan.mechanism).independent_rounds(),
        fmt::format("with mechanism {}, whose noise is on messages, or correlated over rounds",
                    config.plan.mechanism));
    refuse_if(run.plan.aggregation == Aggregation::gossip &&
                  (!run.topography.mixing.symmetric() || !run.topography.later_mixing.empty()),
              "with mixing matrices that are not symmetric or change, with which models do not "
              "agree on their mean");
    refuse_if(config.secure_sum, "with --secure-sum on, whose sums are those of rounds");
    refuse_if(!config.record_views.empty() || config.record_wire,
              "with --record-view, whose files hold rounds without a preconditioner");
    refuse_if(config.plan.learn_clip, "with --clip-norm learnt, whose clip is part of the model");
    refuse_if(!config.spares.empty() || (config.resume && !config.resume->joining.empty()),
              "with agents that join, who do not know what gradients were");
}

std::vector<std::string> preconditioner_statements(const TrainConfig& config) {
    if (config.plan.precondition_every == 0) return {};
    return {
        fmt::format("every {} rounds agents also exchange models until they agree, and scale "
                    "steps by what these show of gradients. Both follow from messages of "
                    "rounds, and tell nothing new to whoever sees all of these",
                    config.plan.precondition_every)};
}

}  // namespace sotto
