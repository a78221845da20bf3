#include "sotto/privacy/sum_hiding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr std::size_t most_named = 8;

std::string named(std::span<const int> agents) {
    const auto shown = agents.first(std::min(agents.size(), most_named));
    return fmt::format("agent{} {}{}",
                       agents.size() == 1 ? "" : "s",
                       fmt::join(shown, ", "),
                       shown.size() < agents.size() ? ", ..." : "");
}

std::string colluders(int number) {
    return fmt::format("{} colluder{}", number, number == 1 ? "" : "s");
}

/// "agents 0, 2 have the message of agent 1"
std::string example_of(const SumExample& example) {
    return fmt::format("{} {} the message{} of {}",
                       named(example.colluders),
                       example.colluders.size() == 1 ? "has" : "have",
                       example.exposed.size() == 1 ? "" : "s",
                       named(example.exposed));
}

std::string counts_of(const SumsAgainst& against, const SumHiding& hiding) {
    const std::vector<int> exposed = against.exposed_in(1);
    std::string text = fmt::format(
        "{} ({} of {}) can lose theirs so", named(exposed), exposed.size(), hiding.agents);
    if (hiding.rounds > 1)
        text += fmt::format(" in some of {} rounds, {} in every one",
                            hiding.rounds,
                            against.exposed_in(hiding.rounds).size());
    return text;
}

std::string line_about(const SumsAgainst& against, const SumHiding& hiding) {
    const std::string who = "Secure sums, " + colluders(against.colluders);
    if (!against.computed) return who + " or more: not computed.";
    if (against.worst)
        return fmt::format(
            "{}: {}; {}.", who, example_of(*against.worst), counts_of(against, hiding));
    return fmt::format("{}: nobody's message is learnt; at least {:.0f}% of each stays hidden{}.",
                       who,
                       std::floor(100 * against.least_hidden),
                       against.smallest_sum
                           ? fmt::format(", in sums of {} or more messages", *against.smallest_sum)
                           : std::string());
}

}  // namespace

std::vector<int> SumsAgainst::exposed_in(long rounds) const {
    std::vector<int> agents;
    for (std::size_t u = 0; u < rounds_exposed.size(); ++u)
        if (rounds_exposed[u] >= rounds) agents.push_back(static_cast<int>(u));
    return agents;
}

bool SumHiding::nothing() const {
    return std::ranges::any_of(against, [&](const SumsAgainst& one) {
        return one.colluders <= asked && one.computed && one.worst &&
               std::ssize(one.exposed_in(rounds)) == agents;
    });
}

SumHiding renumbered(SumHiding hiding, std::span<const int> numbers, int all) {
    const auto rename = [&](std::vector<int>& agents) {
        for (int& agent : agents) agent = numbers[static_cast<std::size_t>(agent)];
    };
    const auto rename_example = [&](std::optional<SumExample>& example) {
        if (!example) return;
        rename(example->colluders);
        rename(example->exposed);
    };
    for (SumsAgainst& against : hiding.against) {
        rename_example(against.worst);
        std::vector<long> rounds(against.computed ? static_cast<std::size_t>(all) : 0, 0);
        for (std::size_t u = 0; u < against.rounds_exposed.size(); ++u)
            rounds[static_cast<std::size_t>(numbers[u])] = against.rounds_exposed[u];
        against.rounds_exposed = std::move(rounds);
    }
    rename_example(hiding.known);
    return hiding;
}

std::vector<std::string> statements_of(const SumHiding& hiding) {
    std::vector<std::string> lines{
        "Secure sums: an agent learns only the weighted sum of its neighbours' messages; the "
        "guarantee does not count on it."};
    for (const SumsAgainst& against : hiding.against) {
        lines.push_back(line_about(against, hiding));
        const bool all = std::ssize(against.exposed_in(hiding.rounds)) == hiding.agents;
        if (!against.computed || all) break;
    }
    if (hiding.known)
        lines.push_back(fmt::format("Secure sums, {}: {}.",
                                    colluders(static_cast<int>(hiding.known->colluders.size())),
                                    example_of(*hiding.known)));
    return lines;
}

void require_hiding(const SumHiding& hiding) {
    if (!hiding.nothing()) return;
    const auto found = std::ranges::find_if(
        hiding.against, [](const SumsAgainst& against) { return against.worst.has_value(); });
    throw ConfigError(fmt::format(
        "secure-sum: on hides nothing on this graph and schedule: {} to withstand, and in every "
        "round each of the {} agents' messages is learnt by {} ({}); use a denser --topology, "
        "another --mixing-schedule{}, or --secure-sum off",
        colluders(hiding.asked),
        hiding.agents,
        hiding.asked == 1 ? "another" : "so many others",
        example_of(*found->worst),
        hiding.asked == 1 ? "" : ", a smaller --coalition-size"));
}

}  // namespace sotto
