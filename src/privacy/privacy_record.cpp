#include "sotto/privacy/privacy_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sotto {

namespace {

bool all_share_a_seed(const NoisePlan& plan) {
    return plan.agents > 1 && std::ranges::any_of(plan.groups, [&](const SeedGroup& group) {
               return static_cast<int>(group.members.size()) == plan.agents;
           });
}

/// What the noise does not do.
std::vector<std::string> statements_about(const NoisePlan& plan) {
    if (plan.noiseless())
        return {
            "No noise is added: every message reveals a clipped gradient. Epsilon is infinite."};
    if (plan.aggregation == Aggregation::trusted_mean)
        return {
            "Trusted aggregator: agent 0 sees every message and adds the noise; only the mean it "
            "returns is protected."};
    std::vector<std::string> lines;
    if (!models_follow_from_messages(plan))
        lines.emplace_back(
            "Models are not covered: noise cancels in the mean over agents, and an agent's own "
            "copy carries other noise than its messages; the guarantee is about messages, not "
            "about any agent's model, their mean, or a figure computed from them. Models in the "
            "run "
            "directory are as secret as the data.");
    if (plan.distribution() == StreamDistribution::laplace)
        lines.emplace_back(
            "Laplace noise: epsilon is pure (delta 0, but for the tails of drawn noise), for "
            "gradients clipped in L1 norm.");
    if (all_share_a_seed(plan))
        lines.emplace_back(
            "All agents share one seed: any agent can compute all noise. Protected against "
            "outsiders who see every message, not against agents.");
    return lines;
}

std::string statement_about_phases(const PrivacyRecord& record) {
    long repeated = -record.now().use.steps.first_round;
    for (const PrivacyPhase& phase : record.past()) repeated += phase.rounds;
    const bool one = repeated == 1;
    return fmt::format(
        "The run was taken up again: {} phases with noise of their own, whose losses add up{}.",
        record.phases.size(),
        repeated == 0 ? ""
                      : fmt::format("; {} round{} whose messages may have left before a failure "
                                    "count{} beside those that repeat them",
                                    repeated,
                                    one ? "" : "s",
                                    one ? "s" : ""));
}

}  // namespace

PrivacyPhase first_phase(NoisePlan plan,
                         std::span<const Exposure> exposures,
                         PlanUse use,
                         long rounds) {
    PrivacyPhase phase;
    phase.members = Membership::everybody(plan.agents);
    phase.plan = std::move(plan);
    for (const Exposure& exposure : exposures) {
        phase.sensitivity.push_back(exposure.sensitivity);
        phase.sampling_probability.push_back(exposure.sampling_probability);
    }
    phase.use = std::move(use);
    phase.rounds = rounds;
    return phase;
}

bool models_follow_from_messages(const NoisePlan& plan) {
    return plan.aggregation == Aggregation::trusted_mean || plan.same_message_to_all();
}

std::vector<std::string> statements_of(const PrivacyRecord& record) {
    std::vector<std::string> lines = statements_about(record.now().plan);
    if (!record.past().empty()) lines.push_back(statement_about_phases(record));
    if (record.reproducible_noise)
        lines.emplace_back(
            "INSECURE: noise derives from --noise-seed; whoever knows or guesses it can remove all "
            "noise.");
    if (record.now().use.participation.poisson && protects_agents(record.adjacency))
        lines.emplace_back(
            "Agents are sampled in secret: the guarantee holds while only the trusted aggregator "
            "and the agent itself know in which rounds it takes part. Whoever can time its rounds "
            "learns that.");
    else if (record.now().use.participation.poisson)
        lines.emplace_back(
            "Batches are sampled in secret: the guarantee holds while only the agent itself knows "
            "which of its records are in a batch. Whoever can time its rounds learns about the "
            "sizes of its batches.");
    if (record.authentication == "unauthenticated")
        lines.emplace_back(
            "Peers are unauthenticated: whoever can change messages between them can take an "
            "agent's place, and learn every seed of its groups.");
    lines.emplace_back(
        "Losses, accuracies and the optimality gap are computed from raw data for the "
        "experimenter; they are not private outputs.");
    lines.emplace_back(
        "Other runs on the same data, such as those that choose a step size or any other option, "
        "are "
        "not counted here: what they reveal adds up (`sotto ledger`).");
    if (!protects_agents(record.adjacency) && !record.now().use.participation.poisson)
        lines.emplace_back(
            "The budget covers one record; no amplification by subsampling is claimed.");
    if (record.secure_sums)
        std::ranges::move(statements_of(*record.secure_sums), std::back_inserter(lines));
    lines.insert(lines.end(), record.more_statements.begin(), record.more_statements.end());
    return lines;
}

}  // namespace sotto
