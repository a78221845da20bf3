#include "account/account_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "agent/bootstrap.hpp"
#include "net/agreement.hpp"
#include "planning/build_topography.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "planning/settle.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"
#include "views/process_checks.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

struct Departure {
    long round;
    std::vector<int> agents;
};

std::vector<Departure> parse_departures(const std::string& text, const Graph& graph, long rounds) {
    std::vector<Departure> departures;
    std::vector<int> gone;
    for (const std::string_view part : split(text, ';')) {
        const std::size_t colon = part.find(':');
        if (colon == std::string_view::npos)
            throw ConfigError(
                fmt::format("--departures: '{}' is not ROUND:AGENTS (example: 50:3,7;80:2)", part));
        const long long round = parse_integer("--departures", part.substr(0, colon));
        const long long after = departures.empty() ? 0 : departures.back().round;
        if (round <= after || round >= rounds)
            throw ConfigError(fmt::format(
                "--departures: round {} is not allowed (rounds must ascend from 1 to {})",
                round,
                rounds - 1));
        auto agents = parse_agent_list("--departures", part.substr(colon + 1), graph);
        for (const int agent : agents)
            if (std::ranges::find(gone, agent) != gone.end())
                throw ConfigError(fmt::format(
                    "--departures: agent {} has already left (name every agent once)", agent));
        gone.insert(gone.end(), agents.begin(), agents.end());
        if (static_cast<int>(gone.size()) >= graph.agents())
            throw ConfigError("--departures: nobody is left (allowed: at least one agent stays)");
        departures.push_back({static_cast<long>(round), std::move(agents)});
    }
    return departures;
}

/// The rule for the remaining agents; the others keep their model.
MixingMatrix mixing_without(const Graph& graph,
                            const std::vector<int>& gone,
                            const GraphConfig& config,
                            const PlanConfig& plan) {
    Membership members{graph.agents(), {}};
    std::ranges::set_difference(
        Membership::everybody(graph.agents()).numbers, gone, std::back_inserter(members.numbers));
    return mixing_of_all(graph, configured_mixing(config, &plan, graph, members.numbers), members);
}

}  // namespace

MixingMatrix mixing_of_all(const Graph& graph,
                           const MixingMatrix& mixing,
                           const Membership& members) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(graph.agents(), graph.agents());
    for (const int u : members.gone()) dense(u, u) = 1;
    for (int a = 0; a < members.size(); ++a) {
        const auto peers = mixing.members(a);
        const auto weights = mixing.weights(a);
        for (std::size_t j = 0; j < peers.size(); ++j)
            dense(members.number(a), members.number(peers[j])) = weights[j];
    }
    return MixingMatrix::from_dense(graph, dense);
}

std::vector<Phase> phases_of(const Topography& topography,
                             const GraphConfig& config,
                             const PlanConfig& plan,
                             const std::string& departures) {
    const long rounds = plan.rounds;
    if (departures.empty()) return {{rounds, topography.schedule(), {}}};
    if (!topography.later_mixing.empty())
        throw ConfigError(
            "--departures: not possible with --mixing-schedule, whose matrices are for all agents");
    if (topography.mixing.push_sum())
        throw ConfigError(
            "--departures: not possible with --mixing push-sum, whose sums would lack the part of "
            "agents that leave (allowed: row-stochastic)");
    if (!is_mixing_rule(config.mixing))
        throw ConfigError(fmt::format(
            "--departures: a mixing rule is needed for those who stay; --mixing is '{}'",
            config.mixing));
    std::vector<Phase> phases;
    std::vector<int> gone;
    long start = 0;
    auto next = parse_departures(departures, topography.graph, rounds);
    next.push_back({rounds, {}});
    for (Departure& departure : next) {
        phases.push_back({departure.round - start,
                          MixingSchedule({mixing_without(topography.graph, gone, config, plan)}),
                          gone});
        start = departure.round;
        gone.insert(gone.end(), departure.agents.begin(), departure.agents.end());
        std::ranges::sort(gone);
    }
    return phases;
}

AccountSubject::AccountSubject(BuiltTopography topography, NoisePlan noise)
    : built(std::move(topography)), plan(std::move(noise)) {
    process.graph = &built.topography.graph;
    process.plan = &plan;
}

bool of_the_same_agents(const MessageProcess& process) {
    return process.phases.size() == 1 && process.phases.front().departed.empty();
}

std::unique_ptr<AccountSubject> build_account_subject(const SubjectConfig& config,
                                                      Control& network) {
    std::optional<BuiltTopography> built;
    const bool leader = network.process() == 0;
    network.agree([&] {
        if (config.sensitivity) require_positive("--sensitivity", *config.sensitivity);
        built = build_topography(config.graph, config.plan);
    });
    const auto [settled, choices] = settle(config.plan,
                                           {.topography = built->topography,
                                            .dimension = config.dimension,
                                            .designed_mixing = is_optimised(config.graph),
                                            .l2 = config.l2},
                                           network,
                                           leader);
    CountedRounds rounds;
    std::optional<PlannedNoise> planned;
    network.agree([&] {
        rounds = count_rounds(settled, built->topography.graph.agents(), {});
        const std::optional<double> sensitivity = config.sensitivity  ? config.sensitivity
                                                  : settled.noise_std ? std::optional(1.0)
                                                                      : std::nullopt;
        if (sensitivity)
            for (auto& exposure : rounds.exposures) exposure.sensitivity = *sensitivity;
        // A rating nobody reads here, which takes a decomposition otherwise.
        SettledPlan design = settled;
        if (design.plan_file || !find_mechanism("mechanism", design.mechanism).uses_utility)
            design.utility = {Utility::Kind::one_step, 1};
        if (leader) planned = plan_noise(design, built->topography, rounds, false);
    });
    require_same_everywhere(
        network,
        to_hex(built->topography.graph.hash()) + to_hex(built->topography.mixing_hash()),
        [](std::size_t rank, const std::string&, const std::string&) {
            return fmt::format(
                "rank {} has read another graph or mixing matrix than rank 0; give all ranks the "
                "same files",
                rank);
        });
    NoisePlan plan = share_plan(network,
                                planned ? std::optional(planned->design.plan) : std::nullopt,
                                built->topography.graph,
                                most_temporal_values(settled));
    auto subject = std::make_unique<AccountSubject>(std::move(*built), std::move(plan));
    network.agree([&] {
        CountedPlan counted =
            count_plan(subject->plan, settled, subject->built.topography, std::move(rounds));
        subject->settled = settled;
        subject->exposures = std::move(counted.exposures);
        subject->delta = counted.budgets.front().delta;
        subject->use = plan_use(settled, subject->built.topography.mixing);
        subject->process.phases =
            phases_of(subject->built.topography, config.graph, settled, config.departures);
        if (subject->process.phases.size() > 1 &&
            subject->plan.distribution() == StreamDistribution::laplace)
            throw ConfigError(
                fmt::format("--departures: not possible with mechanism {}, whose noise is Laplace "
                            "(allowed: nobody leaves, or Gaussian noise)",
                            subject->plan.mechanism));
        set_exchanges(subject->process, settled);
        require_possible_push_sum(subject->built.topography, subject->plan, config.l2);
        subject->process.step_sizes =
            process_steps(subject->plan, settled.steps, config.l2, settled.rounds);
    });
    if (planned) subject->plan_seconds = planned->seconds;
    return subject;
}

const PrivacyPhase* SentRounds::of(int agent) const {
    const auto found = std::ranges::find_if(
        phases, [&](const PrivacyPhase* phase) { return phase->members.place(agent) >= 0; });
    return found == phases.end() ? nullptr : *found;
}

Exposure SentRounds::exposure(int agent) const {
    const PrivacyPhase& there = *of(agent);
    const int place = there.members.place(agent);
    Exposure exposure;
    exposure.sensitivity = there.sensitivity[static_cast<std::size_t>(place)];
    exposure.sampling_probability = there.probability(place);
    exposure.rounds_an_epoch = there.use.participation.rounds_an_epoch;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const PrivacyPhase& phase = *phases[k];
        const auto levels = round_levels(phase.plan.temporal, phase.use.participation, rounds[k]);
        exposure.levels.insert(exposure.levels.end(), levels.begin(), levels.end());
    }
    std::map<long, long> by_pattern;
    for (const long round : process.training_rounds())
        ++by_pattern[round % there.use.participation.cycle];
    for (const auto& [pattern, count] : by_pattern)
        exposure.sensitivity_squared_over_rounds =
            std::max(exposure.sensitivity_squared_over_rounds, static_cast<double>(count));
    return exposure;
}

Guarantee with_surveys(const Guarantee& training,
                       const std::vector<const PrivacyPhase*>& surveys,
                       const std::vector<int>& members,
                       int target) {
    if (surveys.empty()) return training;
    PrivacyLosses losses(surveys.front()->members.all);
    for (const PrivacyPhase* const survey : surveys)
        losses.add(*survey,
                   survey->rounds,
                   observed_precision(survey->plan, {survey->members.places(members)}));
    return guarantee_of(compose(training.loss, losses.of(target, 0)), training.delta);
}

Guarantee guarantee_of_target(const AccountSubject& subject,
                              const std::vector<int>& members,
                              int target,
                              double squared) {
    const Exposure& exposure = subject.exposures[static_cast<std::size_t>(target)];
    return with_surveys(guarantee_of(subject.plan, exposure, squared, subject.delta),
                        subject.surveys,
                        members,
                        target);
}

void require_no_surveys(const AccountSubject& subject, std::string_view option) {
    if (!subject.surveys.empty())
        throw ConfigError(
            fmt::format("{}: not possible for a run that measured norms or moments before its "
                        "training (allowed: views that are named, as all-messages:0,1)",
                        option));
}

std::vector<NoisePlan> plans_by_number(const std::vector<PrivacyPhase>& phases) {
    std::vector<NoisePlan> plans;
    for (const PrivacyPhase& phase : phases) plans.push_back(renumbered(phase.plan, phase.members));
    return plans;
}

long rounds_sent(const std::vector<PrivacyPhase>& phases, std::size_t k, long rounds) {
    return k + 1 == phases.size() ? rounds - phases[k].use.steps.first_round : phases[k].rounds;
}

SentRounds sent_rounds(const TrainConfig& config,
                       const Topography& topography,
                       const std::vector<PrivacyPhase>& phases,
                       const std::vector<NoisePlan>& plans,
                       long rounds) {
    SentRounds sent;
    sent.completed = rounds;
    sent.process.graph = &topography.graph;
    long position = 0, furthest = 0;  // training rounds
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const PrivacyPhase& phase = phases[k];
        if (phase.survey != nullptr) {
            sent.surveys.push_back(&phase);
            continue;
        }
        const long first = phase.use.steps.first_round;
        const long here = rounds_sent(phases, k, rounds);
        if (here <= 0) continue;
        const bool everybody = phase.members.size() == phase.members.all;
        MixingSchedule mixing =
            everybody
                ? topography.schedule().from(first)
                : MixingSchedule({mixing_of_all(
                      topography.graph,
                      configured_mixing(
                          config.graph, &config.plan, topography.graph, phase.members.numbers),
                      phase.members)});
        sent.process.phases.push_back(
            {here, std::move(mixing), phase.members.gone(), nullptr, position - first});
        if (sent.phases.empty())
            sent.process.plan = &plans[k];
        else
            sent.process.phases.back().plan = &plans[k];
        sent.phases.push_back(&phase);
        sent.rounds.push_back(here);
        position = first + here;
        furthest = std::max(furthest, position);
    }
    if (sent.phases.empty()) return sent;
    set_exchanges(sent.process, config.plan);
    const std::vector<double> steps =
        process_steps(*sent.process.plan, config.plan.steps, config.l2, furthest);
    if (!steps.empty())
        for (const long round : sent.process.training_rounds())
            sent.process.step_sizes.push_back(steps[static_cast<std::size_t>(round)]);
    return sent;
}

namespace {

/// Of the remaining agents: weights of exchanges depend on their mixing alone.
GossipPolynomial gossip_of_phase(const PlanConfig& plan, const Graph& graph, const Phase& phase) {
    const MixingMatrix& mixing = phase.mixing.at(0);
    if (phase.departed.empty() || plan.gossip == GossipRule::plain)
        return configured_gossip(plan, mixing);
    std::vector<int> there;
    for (int u = 0; u < graph.agents(); ++u)
        if (!phase.has_departed(u)) there.push_back(u);
    const Eigen::MatrixXd dense = mixing.dense();
    return configured_gossip(
        plan, MixingMatrix::from_dense(graph.induced_subgraph(there), dense(there, there)));
}

}  // namespace

void set_exchanges(MessageProcess& process, const PlanConfig& plan) {
    process.momentum = plan.momentum;
    process.correction = plan.correction;
    if (process.phases.empty()) return;
    process.gossip = gossip_of_phase(plan, *process.graph, process.phases.front());
    for (Phase& phase : process.phases) phase.gossip = gossip_of_phase(plan, *process.graph, phase);
    process.final_gossip = exchanges_beside_rounds(plan, process.phases.back().mixing);
}

}  // namespace sotto
