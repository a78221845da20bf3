#include "sotto/views/view_losses.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/participation_patterns.hpp"
#include "views/process_checks.hpp"

namespace sotto {

namespace {

/// Secretly sampled rounds are accounted for as if all messages were seen, by an observer who knows
/// what the members know. Of phases with noise of different sizes all rounds count as those with
/// the least.
std::vector<SquaredSensitivity> sampled_losses(const MessageProcess& process,
                                               const PlanUse& use,
                                               const View& view,
                                               std::span<const int> targets) {
    const std::vector<long> training = process.training_rounds();
    const auto patterns = participation_patterns(training, use.participation);
    Eigen::MatrixXd squared = Eigen::MatrixXd::Zero(process.plan->agents, std::ssize(patterns));
    Eigen::VectorXd precision = Eigen::VectorXd::Zero(process.plan->agents);
    long begin = 0;
    for (const Phase& phase : process.phases) {
        if (!phase.departed.empty())
            throw ConfigError(fmt::format(
                "participation: views after agents have left are not accounted for with {} "
                "(allowed: the ledger's own figure)",
                name_of(use.participation)));
        const NoisePlan& own = process.plan_of(phase);
        PlanUse phase_use = use;
        phase_use.steps.first_round = training[static_cast<std::size_t>(begin)];
        const Eigen::MatrixXd here = pattern_sensitivity_squared(own, phase_use, phase.rounds);
        squared.leftCols(here.cols()) += here;
        precision = precision.cwiseMax(observed_precision(own, {view.members}));
        begin += phase.rounds;
    }
    std::vector<SquaredSensitivity> result;
    for (const int u : targets)
        result.push_back(view.has_member(u) ? SquaredSensitivity::unbounded()
                                            : SquaredSensitivity::all_messages(
                                                  squared.row(u).maxCoeff() * precision(u)));
    return result;
}

}  // namespace

bool counts_all_messages(const MessageProcess& process,
                         const Participation& participation,
                         const View& view) {
    return process.plan->distribution() == StreamDistribution::laplace || participation.poisson ||
           !has_exact_figures(process, view);
}

std::vector<SquaredSensitivity> view_losses(const MessageProcess& process,
                                            const PlanUse& use,
                                            const View& view,
                                            std::span<const int> targets,
                                            const ViewOptions& options) {
    const NoisePlan& plan = *process.plan;
    check_smoothing(process);
    if (use.participation.poisson) return sampled_losses(process, use, view, targets);
    if (plan.distribution() == StreamDistribution::gaussian)
        return view_sensitivity(
            process,
            has_exact_figures(process, view) ? view : View{View::Kind::all_messages, view.members},
            targets,
            use.participation,
            options);
    if (view.kind == View::Kind::secure_sum && !plan.same_message_to_all())
        throw PrivacyError(
            fmt::format("view: secure-sum is not possible with mechanism {}, which gives every "
                        "receiver a message of its own (allowed: views of messages)",
                        plan.mechanism));
    // Noise of different phases is independent, so pure epsilons add up; agents take part in every
    // round, and the same agents in every phase.
    const std::vector<long> training = process.training_rounds();
    Eigen::VectorXd loss = Eigen::VectorXd::Zero(plan.agents);
    long begin = 0;
    for (const Phase& phase : process.phases) {
        const NoisePlan& own = process.plan_of(phase);
        PlanUse phase_use = use;
        phase_use.steps.first_round = training[static_cast<std::size_t>(begin)];
        loss += run_sensitivity_squared(own, phase_use, phase.rounds)
                    .cwiseProduct(observed_precision(own, {view.members}))
                    .cwiseSqrt();
        begin += phase.rounds;
    }
    std::vector<SquaredSensitivity> result;
    for (const int u : targets)
        result.push_back(SquaredSensitivity::all_messages(loss(u) * loss(u)));
    return result;
}

}  // namespace sotto
