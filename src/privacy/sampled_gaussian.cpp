#include "sotto/privacy/sampled_gaussian.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void require_rounds(const SampledRounds& rounds) {
    if (!(rounds.noise_multiplier > 0))
        throw PrivacyError(fmt::format("noise multiplier: {} is not possible (must be above 0)",
                                       rounds.noise_multiplier));
    if (!(rounds.sampling_probability >= 0 && rounds.sampling_probability <= 1))
        throw PrivacyError(
            fmt::format("sampling probability: {} is not possible (must be from 0 to 1)",
                        rounds.sampling_probability));
    if (rounds.count < 0 || rounds.count > most_sampled_rounds)
        throw PrivacyError(fmt::format("sampled rounds: {} is not possible (must be from 0 to {})",
                                       rounds.count,
                                       most_sampled_rounds));
}

}  // namespace

std::vector<SampledRounds> merged_rounds(std::span<const SampledRounds> rounds) {
    std::map<std::pair<double, double>, long> counts;
    long all = 0;
    for (const SampledRounds& one : rounds) {
        require_rounds(one);
        if (one.count == 0 || one.sampling_probability == 0 || std::isinf(one.noise_multiplier))
            continue;
        counts[{one.noise_multiplier, one.sampling_probability}] += one.count;
        all += one.count;
        if (all > most_sampled_rounds)
            throw PrivacyError(fmt::format(
                "sampled rounds: more than {} are not accounted together", most_sampled_rounds));
    }
    std::vector<SampledRounds> merged;
    for (const auto& [kind, count] : counts) merged.push_back({kind.first, kind.second, count});
    return merged;
}

}  // namespace sotto
