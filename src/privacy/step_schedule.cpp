#include "sotto/privacy/step_schedule.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

constexpr std::string_view piecewise_prefix = "piecewise:";

std::vector<StepSchedule::Piece> parse_pieces(std::string_view option, std::string_view text) {
    std::vector<StepSchedule::Piece> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        const std::size_t colon = word.find(':');
        if (colon == std::string_view::npos)
            throw ConfigError(
                fmt::format("{}: '{}' is not ROUND:FACTOR (example: piecewise:100:0.1,200:0.01)",
                            option,
                            word));
        const long long round = parse_integer(option, word.substr(0, colon));
        const double factor = parse_real(option, word.substr(colon + 1));
        require_in_range(option, static_cast<double>(round), 1, 1e12);
        require_positive(option, factor);
        if (!pieces.empty() && round <= pieces.back().round)
            throw ConfigError(fmt::format(
                "{}: round {} does not come after round {}", option, round, pieces.back().round));
        pieces.push_back({static_cast<long>(round), factor});
        begin = end + 1;
    }
    return pieces;
}

}  // namespace

double StepSchedule::at(long round) const {
    round += first_round;
    switch (kind) {
        case Kind::constant:
            return step_size;
        case Kind::inverse_sqrt:
            return step_size / std::sqrt(static_cast<double>(round + 1));
        case Kind::inverse:
            return step_size / static_cast<double>(round + 1);
        case Kind::piecewise: {
            double factor = 1;
            for (const Piece& piece : pieces)
                if (piece.round <= round) factor = piece.factor;
            return step_size * factor;
        }
    }
    return step_size;
}

std::vector<double> StepSchedule::over(long rounds) const {
    std::vector<double> steps;
    for (long t = 0; t < rounds; ++t) steps.push_back(at(t));
    return steps;
}

StepSchedule parse_step_schedule(std::string_view option, std::string_view text, double step_size) {
    if (text == "constant") return {StepSchedule::Kind::constant, step_size, {}, 0};
    if (text == "inverse-sqrt") return {StepSchedule::Kind::inverse_sqrt, step_size, {}, 0};
    if (text == "inverse") return {StepSchedule::Kind::inverse, step_size, {}, 0};
    if (text.starts_with(piecewise_prefix))
        return {StepSchedule::Kind::piecewise,
                step_size,
                parse_pieces(option, text.substr(piecewise_prefix.size())),
                0};
    const std::vector<std::string> allowed{
        "constant", "inverse-sqrt", "inverse", "piecewise:ROUND:FACTOR,..."};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const StepSchedule& schedule) {
    switch (schedule.kind) {
        case StepSchedule::Kind::constant:
            return "constant";
        case StepSchedule::Kind::inverse_sqrt:
            return "inverse-sqrt";
        case StepSchedule::Kind::inverse:
            return "inverse";
        case StepSchedule::Kind::piecewise:
            break;
    }
    std::string text(piecewise_prefix);
    for (std::size_t i = 0; i < schedule.pieces.size(); ++i)
        text += fmt::format(
            "{}{}:{}", i == 0 ? "" : ",", schedule.pieces[i].round, schedule.pieces[i].factor);
    return text;
}

}  // namespace sotto
