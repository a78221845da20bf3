#include "sotto/design/affordable_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "design/time_design.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/design/temporal_utility.hpp"

namespace sotto {

namespace {

TemporalShape banded(long band, long restart) {
    return {TemporalShape::Kind::banded, band, restart};
}

/// Rounds whose noise the last round of a block may share.
long longest_reach(const DesignInput& input) {
    const long restart = input.temporal.restart;
    return (restart > 0 ? std::min(restart, input.rounds) : input.rounds) - 1;
}

bool sampled_in_parts(const Participation& participation) {
    return participation.poisson && participation.cycle > 1;
}

/// Empty where it can be.
std::string_view reason_against_dense(const DesignInput& input, const PastRounds& past) {
    const long reach = longest_reach(input);
    if (sampled_in_parts(input.participation) && reach >= input.participation.cycle)
        return "in which sampled rounds of a record would meet";
    if (reach >= most_dense_rounds) return "more than can be planned for";
    if (reach > past.kept) return "which take more than 2 GiB for all agents";
    if (reach > 2 * past.read) return "which costs more than the rest of a round";
    return {};
}

/// A band that agents can afford, that can be planned for, and that keeps sampled rounds apart.
long widest_band(const DesignInput& input, const PastRounds& past) {
    constexpr long most_planned_values = 1L << 26;
    const long reach = longest_reach(input);
    long band = std::min({past.kept, past.read, reach});
    if (sampled_in_parts(input.participation) || reach >= most_dense_rounds)
        band = std::min(band, input.participation.cycle - 1);
    if (reach >= most_dense_rounds)
        band = std::min(band, most_planned_values / input.rounds / (input.mixing->agents() + 1));
    return std::max(band, 1L);
}

double noise_of(const DesignInput& input, const TemporalShape& shape) {
    const auto agents = static_cast<Eigen::Index>(input.mixing->agents());
    return time_given_space(
               input, Eigen::MatrixXd::Identity(agents, agents), shape, Certificate::omitted)
        .value;
}

}  // namespace

PastRounds affordable_past(const RoundWork& work) {
    constexpr std::int64_t most_bytes = std::int64_t{2} << 30;
    constexpr std::int64_t value_bytes = sizeof(double);
    constexpr long free_values = 1L << 17, values_a_draw = 8, values_a_record = 1;
    const long kept = most_bytes / (value_bytes * work.agents) / work.dimension;
    const long read =
        std::max(values_a_draw + values_a_record * work.batch, free_values / work.dimension);
    return {std::max(1L, kept), std::max(1L, read)};
}

ShapeChoice affordable_shape(const DesignInput& input, const RoundWork& work) {
    ShapeChoice choice;
    choice.reach = longest_reach(input);
    // With every round against every other nothing can be correlated.
    if (input.participation.cycle < 2 || choice.reach < 1) return choice;
    const long restart = input.temporal.restart;
    const PastRounds past = affordable_past(work);
    choice.against_dense = reason_against_dense(input, past);
    if (choice.against_dense.empty()) {
        choice.candidates = {{{TemporalShape::Kind::dense, 0, restart}, not_a_number}};
        return choice;
    }
    const long band = widest_band(input, past);
    choice.candidates = {{banded(band, restart), not_a_number}};
    if (sampled_in_parts(input.participation)) return choice;
    const TemporalShape judged = banded(std::min(band, input.participation.cycle - 1), restart);
    const TemporalShape one_lag{TemporalShape::Kind::one_lag, 0, restart};
    choice.candidates.front().noise = noise_of(input, judged);
    choice.candidates.push_back({one_lag, noise_of(input, one_lag)});
    choice.chosen = choice.candidates[0].noise < choice.candidates[1].noise ? 0 : 1;
    return choice;
}

std::string text_of(const ShapeChoice& choice) {
    if (choice.candidates.empty()) return {};
    if (choice.keeps_all()) return name_of(choice.best());
    std::string text = fmt::format("{}: dense noise would keep {} rounds, {}",
                                   name_of(choice.best()),
                                   choice.reach,
                                   choice.against_dense);
    if (choice.candidates.size() < 2) return text;
    const ShapeCandidate& other = choice.candidates[1 - choice.chosen];
    return text + fmt::format("; {} leaves {:.3g} times as much",
                              name_of(other.shape),
                              other.noise / choice.candidates[choice.chosen].noise);
}

}  // namespace sotto
