#include "sotto/views/view_losses.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

std::vector<SquaredSensitivity> view_losses(const MessageProcess& process,
                                            const PlanUse& use,
                                            const View& view,
                                            std::span<const int> targets,
                                            const ViewOptions& options) {
    const NoisePlan& plan = *process.plan;
    if (plan.distribution() == StreamDistribution::gaussian)
        return view_sensitivity(process, view, targets, use.participation, options);
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
