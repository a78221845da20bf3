#include "planning/unrestricted_noise.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "planning/configured_gossip.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/joint_solver.hpp"
#include "sotto/design/scheduled_utility.hpp"
#include "sotto/design/temporal_utility.hpp"
#include "sotto/plan/lagged_noise.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

void require_comparable(const PlanConfig& config, const NoisePlan& plan) {
    const auto refuse = [&](std::string_view why) {
        throw ConfigError(fmt::format("unrestricted-bound: on is not possible {} (allowed: off)",
                                      std::string(why)));
    };
    if (plan.noiseless()) refuse("without noise");
    if (plan.aggregation != Aggregation::gossip) refuse("with a trusted aggregator");
    if (plan.entry != NoiseEntry::gradient || !plan.same_message_to_all() ||
        plan.distribution() != StreamDistribution::gaussian)
        refuse("with noise on messages");
    if (config.participation.poisson) refuse("with sampled rounds, which are counted one by one");
    if (config.momentum > 0) refuse("with --momentum, which adds up what rounds leave");
}

/// H of all agents and rounds, and of rounds alone for a covariance R; steps in units of the first.
class TrajectoryObjective {
  public:
    TrajectoryObjective(const PlanConfig& config, const Topography& topography)
        : topography_(topography),
          gossip_(configured_gossip(config, topography.mixing)),
          schedule_(topography.schedule().from(config.steps.first_round)) {
        for (long t = 0; t < config.rounds; ++t)
            steps_.push_back(config.steps.at(t) / config.steps.at(0));
    }
    [[nodiscard]] Eigen::MatrixXd joint() const {
        return changes() ? joint_utility(schedule_, steps_, gossip_.steps())
                         : joint_utility(topography_.mixing, steps_, gossip_);
    }
    [[nodiscard]] Eigen::MatrixXd of_rounds(const Eigen::MatrixXd& covariance) const {
        return changes() ? temporal_utility(schedule_, covariance, steps_, gossip_.steps())
                         : temporal_utility(topography_.mixing, covariance, steps_, gossip_);
    }

  private:
    [[nodiscard]] bool changes() const { return !topography_.later_mixing.empty(); }

    const Topography& topography_;
    GossipPolynomial gossip_;
    MixingSchedule schedule_;
    std::vector<double> steps_;
};

/// Tr(H (X_time^-1 (x) R)) of a plan, at the scale that it has.
double plan_objective(const NoisePlan& plan, const TrajectoryObjective& objective, long rounds) {
    const Eigen::MatrixXd inverse = dense_factor(plan.temporal, rounds)
                                        .triangularView<Eigen::Lower>()
                                        .solve(Eigen::MatrixXd::Identity(rounds, rounds));
    return objective.of_rounds(spatial_covariance(plan))
        .cwiseProduct(inverse * inverse.transpose())
        .sum();
}

CertifiedOptimum optimum_of(const Eigen::MatrixXd& utility,
                            const Eigen::VectorXd& kappa,
                            long cycle,
                            JointOptions::Columns columns) {
    JointOptions options;
    options.columns = columns;
    const JointSolution solution = solve_joint_gram(utility, kappa, cycle, options);
    return {solution.value, solution.lower_bound};
}

}  // namespace

UnrestrictedNoise unrestricted_noise(const PlanConfig& config,
                                     const Topography& topography,
                                     const NoisePlan& plan,
                                     const Eigen::VectorXd& kappa) {
    require_comparable(config, plan);
    require_joint_rows(plan.agents, config.rounds);
    const TrajectoryObjective objective(config, topography);
    const Eigen::MatrixXd utility = objective.joint();
    const double unit = kappa.minCoeff();
    const Eigen::VectorXd limits = kappa / unit;
    UnrestrictedNoise noise;
    noise.plan = unit * plan_objective(plan, objective, config.rounds);
    noise.any = optimum_of(utility, limits, config.participation.cycle, JointOptions::Columns::any);
    noise.equal =
        optimum_of(utility, limits, config.participation.cycle, JointOptions::Columns::equal);
    return noise;
}

std::string text_of(const UnrestrictedNoise& noise) {
    return fmt::format(
        "any C      leaves {:.6g} at least in all models of all rounds (certified to {:.1g}); this "
        "plan {:.6g}, {:.4g} times that\n"
        "           with no round of an agent seen more sharply than alone {:.6g} ({:.1g}): {:.4g} "
        "times that\n",
        noise.any.value,
        noise.any.relative_gap(),
        noise.plan,
        noise.ratio(),
        noise.equal.value,
        noise.equal.relative_gap(),
        noise.ratio_of_equal());
}

}  // namespace sotto
