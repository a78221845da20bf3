#include "training/robust_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <string_view>

#include "sotto/core/error.hpp"
#include "training/round_deadline.hpp"

namespace sotto {

namespace {

void require_possible_limits(const Run& run) {
    const RobustRule& rule = run.config.robust;
    const auto refuse = [&](bool cannot, std::string_view reason, std::string_view instead) {
        if (cannot)
            throw ConfigError(fmt::format(
                "robust: {} is not possible {} (allowed: {})", name_of(rule), reason, instead));
    };
    if (rule.limits_from_plan()) {
        refuse(run.phase.momentum > 0,
               "with --momentum, which makes noise depend on earlier rounds",
               "off, clip:TAU, trimmed:F");
        refuse(run.plan.temporal.kind != TemporalFactor::Kind::identity,
               "with noise that depends on earlier rounds or changes with a --noise-schedule; its "
               "limits follow from independent rounds with equal noise",
               "off, clip:TAU, trimmed:F, --noise-schedule constant, or another --mechanism");
        refuse(run.plan.distribution() != StreamDistribution::gaussian,
               "with Laplace noise, whose norms have other tails",
               "off, clip:TAU, trimmed:F");
    }
    for (int u = 0; u < run.plan.agents; ++u) {
        const auto neighbours = std::ssize(run.topography.mixing.members(u)) - 1;
        refuse(
            rule.kind == RobustRule::Kind::trimmed && 2 * rule.trimmed >= neighbours,
            fmt::format("where agent {} has {} neighbour{}, of which more would be left out than "
                        "remain",
                        run.members.number(u),
                        neighbours,
                        neighbours == 1 ? "" : "s"),
            "off, clip, or an F below half of every agent's neighbours");
    }
}

}  // namespace

void require_possible_lies(const Run& run) {
    const TrainConfig& config = run.config;
    if (!config.expects_lies()) return;
    const bool robust = config.robust.on();
    const auto refuse = [&](bool cannot, std::string_view reason) {
        if (cannot)
            throw ConfigError(fmt::format("{}: {} is not possible {} (allowed: {})",
                                          robust ? "robust" : "faults",
                                          robust ? name_of(config.robust) : "lie",
                                          reason,
                                          robust ? "off" : "silent, slow"));
    };
    for (const int liar : config.faults.liars())
        if (liar >= run.members.all)
            throw ConfigError(
                fmt::format("faults: agent {} is to lie (allowed: agents from 0 to {})",
                            liar,
                            run.members.all - 1));
    refuse(config.secure_sum, "with --secure-sum on, where no agent sees a neighbour's message");
    refuse(run.plan.aggregation != Aggregation::gossip,
           "with a trusted aggregator, which adds up all messages itself");
    refuse(run.plan.entry != NoiseEntry::gradient || !run.plan.same_message_to_all(),
           "with noise on messages, whose guarantee is that of a fixed mixing matrix");
    refuse(!run.topography.schedule().fixed(), "where mixing changes from round to round");
    refuse(run.topography.mixing.push_sum() || !run.topography.mixing.symmetric(),
           "with mixing weights that are not symmetric");
    refuse(run.phase.correction != Correction::none,
           "with --correction, which counts on every message being what was sent");
    refuse(run.phase.precondition_every > 0,
           "with --precondition-every, whose exchanges of models have no limits");
    refuse(config.round_deadline.has_value(),
           "with --round-deadline, where an edge counts in both directions or in none");
    require_recordable(config, robust ? "robust" : "faults");
    if (robust) require_possible_limits(run);
}

LiesByPlace lies_by_place(const Run& run) {
    if (run.config.faults.lies.empty()) return {};
    LiesByPlace lies;
    for (const int number : run.members.numbers) {
        const Lie* const lie = run.config.faults.lie_of(number);
        lies.push_back(lie == nullptr ? std::nullopt : std::optional(*lie));
    }
    return lies;
}

SharedNoiseCheck shared_noise_check(const Run& run,
                                    std::span<const KeyRing> rings,
                                    Eigen::Index dimension) {
    return {run.plan,
            run.topography.mixing,
            rings,
            {.false_alarms = alarm_share_of_delta * run.config.plan.delta,
             .rounds = run.config.plan.rounds,
             .dimension = dimension,
             .threads = run.config.threads}};
}

std::vector<SuspectedAgent> gather_suspected(Network& network,
                                             const Membership& members,
                                             const std::vector<Suspicion>& local) {
    const Eigen::Index agents = network.agents();
    const auto here = std::ssize(network.local_agents());
    // Sums of what every agent says: who is suspected, whose messages were compared, and whose lack
    // shared noise.
    Eigen::MatrixXd said = Eigen::MatrixXd::Zero(3 * agents, here);
    for (const Suspicion& one : local) {
        const Eigen::Index column = one.receiver - *network.local_agents().begin();
        if (one.suspected()) said(one.sender, column) = 1;
        if (one.messages > 0 || one.noise_tested) said(agents + one.sender, column) = 1;
        if (one.lacks_noise) said(2 * agents + one.sender, column) = 1;
    }
    const Eigen::VectorXd sum = network.sum_over_agents(said);
    std::vector<SuspectedAgent> suspected;
    for (Eigen::Index v = 0; v < agents; ++v)
        if (sum(v) > 0)
            suspected.push_back({members.number(static_cast<int>(v)),
                                 static_cast<int>(sum(v)),
                                 static_cast<int>(sum(agents + v)),
                                 static_cast<int>(sum(2 * agents + v))});
    return suspected;
}

std::string text_of_suspected(const std::vector<SuspectedAgent>& suspected) {
    if (suspected.empty()) return {};
    std::vector<std::string> each;
    bool sure = false, likely = false;
    for (const SuspectedAgent& one : suspected) {
        sure = sure || one.lacks_noise > 0;
        likely = likely || one.lacks_noise < one.by;
        each.push_back(fmt::format(
            "agent {} by {} of {} neighbours{}",
            one.number,
            one.by,
            one.neighbours,
            one.lacks_noise == 0 ? ""
            : one.lacks_noise == one.by
                ? ", without the noise that they share"
                : fmt::format(", {} of them without the noise that they share", one.lacks_noise)));
    }
    std::string text = fmt::format("{}", fmt::join(each, "; "));
    if (sure)
        text +=
            " (messages of an honest agent hold that noise; that one fails the test is less likely "
            "than a millionth of delta)";
    if (likely)
        text +=
            " (where nobody lies, a neighbour suspects an agent otherwise with a probability below "
            "1e-3; lies make honest ones differ too, so look at those whom most suspect)";
    return text;
}

}  // namespace sotto
