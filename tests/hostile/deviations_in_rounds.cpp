#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>

#include "hostile/deviations.hpp"

namespace sotto::test {

namespace {

constexpr std::int64_t deviant_round = 5;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// From the deviant round on, this value at coordinate 1 of what each neighbour gets.
Deviation sends(const std::string& name, double value) {
    return {.name = name, .messages = [value](ExchangeId id, auto& messages) {
                if (id.round >= deviant_round)
                    for (auto& message : messages) message(1) = value;
            }};
}

Deviation at_round(const std::string& name, const std::function<void()>& act) {
    return {.name = name, .messages = [act](ExchangeId id, auto&) {
                if (id.round == deviant_round) act();
            }};
}

std::vector<Deviation> messages() {
    return {
        sends("sends_nan", nan_value),
        sends("sends_infinity", infinite),
        sends("sends_1e300", 1e300),
        sends("sends_just_beyond", std::nextafter(1e100, infinite)),
        sends("sends_denormals", 5e-324),
        sends("sends_huge_but_allowed", 1e90),
        {.name = "sends_nan_to_one",
         .messages =
             [](ExchangeId id, auto& messages) {
                 if (id.round == deviant_round) messages[1](0) = nan_value;
             }},
        {.name = "equivocates_in_rounds",
         .messages =
             [](ExchangeId, auto& messages) {
                 for (std::size_t j = 0; j < messages.size(); ++j)
                     messages[j](0) += static_cast<double>(j);
             }},
        {.name = "sends_nan_in_clear",
         .message_to_all =
             [](ExchangeId id, auto& message) {
                 if (id.round == deviant_round) message(1) = nan_value;
             }},
        // As far as a code of 32 bits goes.
        {.name = "jumps_in_clear",
         .message_to_all =
             [](ExchangeId id, auto& message) {
                 if (id.round == deviant_round) message(1) = 0x1p31 - 1;
             }},
        {.name = "adds_to_shares",
         .share =
             [](ExchangeId id, std::size_t, std::span<std::uint64_t> words) {
                 if (id.round < deviant_round) return;
                 for (auto& word : words) word += std::uint64_t{1} << 63;
             }},
        {.name = "leaves_out_shares",
         .share =
             [](ExchangeId id, std::size_t, std::span<std::uint64_t> words) {
                 if (id.round < deviant_round) return;
                 for (auto& word : words) word = 0;
             }},
        {.name = "sends_the_share_of_another",
         .share =
             [kept = std::vector<std::uint64_t>()](
                 ExchangeId id, std::size_t neighbour, std::span<std::uint64_t> words) mutable {
                 if (id.round < deviant_round) return;
                 const std::vector<std::uint64_t> own(words.begin(), words.end());
                 if (neighbour == 1)
                     for (std::size_t i = 0; i < words.size(); ++i) words[i] = kept[i];
                 kept = own;
             }},
    };
}

std::vector<Deviation> endings() {
    return {
        at_round("quits", [] { std::_Exit(0); }),
        at_round("dies", [] { (void)std::raise(SIGKILL); }),
        at_round("stops_in_a_round", [] { (void)std::raise(SIGSTOP); }),
        at_round("gives_up", [] { throw DataError("I do not feel like it"); }),
    };
}

/// Of the vectors that evaluation collects: models of the quadratic task, and figures of them.
constexpr Eigen::Index parameters = 2, evaluation_figures = 9;

/// What it shows of itself in the number-th vector of this length.
Deviation shows(const std::string& name,
                Eigen::Index length,
                int number,
                const std::function<void(Eigen::MatrixXd& local)>& change) {
    return {.name = name, .collected = [=, seen = 0](Eigen::MatrixXd& local) mutable {
                if (local.rows() == length && seen++ >= number) change(local);
            }};
}

std::vector<Deviation> figures() {
    return {
        shows("shows_a_model_of_nan", parameters, 0, [](auto& local) { local(1, 0) = nan_value; }),
        shows("reports_losses_of_nan",
              evaluation_figures,
              0,
              [](auto& local) { local.topRows(evaluation_figures - 1).setConstant(nan_value); }),
        shows("reports_a_distance_of_nan",
              evaluation_figures,
              0,
              [](auto& local) { local(evaluation_figures - 1, 0) = nan_value; }),
        // The first is its model, for evaluation.
        shows("sends_nan_to_the_aggregator",
              parameters,
              1,
              [](auto& local) { local.setConstant(nan_value); }),
        shows(
            "stops_in_evaluation", evaluation_figures, 0, [](auto&) { (void)std::raise(SIGSTOP); }),
        {.name = "votes_nan", .vote = [](auto& votes) { votes.assign(votes.size(), nan_value); }},
        {.name = "votes_infinity", .vote = [](auto& votes) { votes.back() = infinite; }},
        {.name = "votes_to_stop", .vote = [](auto& votes) { votes.front() = 1; }},
        {.name = "reports_a_damaged_checkpoint",
         .gathered =
             [](Gathered kind, std::string own) {
                 return kind == Gathered::checkpoint ? own.substr(0, 11) : own;
             }},
        {.name = "reports_garbage_at_the_end",
         .gathered =
             [](Gathered kind, std::string own) {
                 return kind == Gathered::figures ? own.substr(0, 11) : own;
             }},
    };
}

}  // namespace

std::vector<Deviation> deviations_in_rounds() {
    std::vector<Deviation> all = messages();
    for (const auto& more : {endings(), figures()}) all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace sotto::test
