#include "options/default_final_gossip.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void settle(PlanConfig& config, bool rounds_alone) {
    config.default_final_gossip = false;
    config.final_gossip.reset();
    if (rounds_alone) config.final_gossip = 0;
}

/// What secure sums hide, and figures of partial views.
bool asks_for_figures_of_rounds(const TrainConfig& config) {
    return config.secure_sum || !config.views.empty();
}

}  // namespace

void settle_final_gossip(PlanConfig& config, const OptionTexts& given, bool rounds_alone) {
    if (!given.contains("final-gossip")) settle(config, rounds_alone);
}

void settle_final_gossip(TrainConfig& config, Network& network) {
    constexpr std::string_view none = "0", some = "auto";
    if (!config.plan.default_final_gossip) return;
    std::string said(asks_for_figures_of_rounds(config) ? none : some);
    said = network.broadcast(said, some.size());
    network.agree([&] {
        if (said != none && said != some)
            throw NetworkError(
                fmt::format("rank 0 settles --final-gossip with '{}' (allowed: 0, auto)", said));
    });
    settle(config.plan, said == none || config.secure_sum);
}

}  // namespace sotto
