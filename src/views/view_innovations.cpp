#include "sotto/views/view_innovations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "views/dense_matrices.hpp"
#include "views/observation_model.hpp"
#include "views/predicted_messages.hpp"
#include "views/process_checks.hpp"
#include "views/view_filter.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The plan with streams of unit variance: a Laplace variable of scale 1 has variance 2.
NoisePlan with_unit_variance(const NoisePlan& plan) {
    NoisePlan result = plan;
    if (result.distribution() != StreamDistribution::laplace) return result;
    result.scale *= std::numbers::sqrt2;
    for (NoiseStream& stream : result.streams) stream.distribution = StreamDistribution::gaussian;
    return result;
}

MessageProcess under_plan(MessageProcess process, const NoisePlan& plan) {
    process.plan = &plan;
    return process;
}

/// The filter's error dynamics, or its estimate of the state: x+ = F x + input +- gain r.
MatrixXd carry_on(const LinearStep& step,
                  const ViewFilter::Gain& gain,
                  const MatrixXd& state,
                  const MatrixXd& whitened,
                  double sign) {
    MatrixXd next = step.transition * state;
    add_product(sign, gain.gain, false, whitened, false, next);
    return next;
}

ViewInnovations::Innovation innovation_of(const Whitening& whitening, const MatrixXd& observed) {
    return {product(whitening.rows, false, observed), product(whitening.blind, false, observed)};
}

void require_one_phase_with_steps(const MessageProcess& process) {
    if (process.phases.size() != 1 || !process.phases.front().departed.empty() ||
        process.phases.front().plan != nullptr || process.phases.front().repeated != 0)
        throw ConfigError(
            "test of a view: one phase of the process's plan is allowed, with all agents there "
            "in every round and none repeated");
    if (static_cast<long>(process.step_sizes.size()) != process.rounds())
        throw ConfigError(fmt::format("test of a view: {} step sizes for {} rounds",
                                      process.step_sizes.size(),
                                      process.rounds()));
    if (process.plan->aggregation == Aggregation::trusted_mean)
        throw ConfigError("test of a view: not possible with a trusted mean");
}

/// What agents moved along in the round before is known of agents whose messages are all seen.
void require_known_momentum(const MessageProcess& process, const View& view) {
    if (process.momentum != 0 && view.kind != View::Kind::all_messages)
        throw ConfigError(
            fmt::format("momentum: {} is not possible in a test of a view that does not show all "
                        "messages (allowed: 0, or the eavesdropper and all-messages)",
                        process.momentum));
}

/// Observations that hear nothing of the state are wanted too: rounds are not "independent".
ObservationModel model_of(const MessageProcess& process, const View& view) {
    const long rounds = process.rounds();
    LaggedNoise noise = lagged_noise(process.plan->temporal, rounds, static_cast<int>(rounds));
    noise.independent_rounds = false;
    return make_observation_model(process, view, {noise});
}

}  // namespace

struct ViewInnovations::State {
    State(const MessageProcess& given, const View& observer, VectorXd initial)
        : plan(with_unit_variance(*given.plan)),
          process(under_plan(given, plan)),
          view(observer),
          model(model_of(process, view)),
          filter(model),
          predicted(process, view, std::move(initial)),
          estimate(0, predicted.dimension()) {}

    NoisePlan plan;
    MessageProcess process;
    View view;
    ObservationModel model;
    ViewFilter filter;
    PredictedMessages predicted;
    long time = 0;
    MatrixXd estimate;  // state x coordinates
};

void require_testable(const MessageProcess& process, const View& view) {
    check_smoothing(process);
    require_one_phase_with_steps(process);
    require_known_momentum(process, view);
}

ViewInnovations::ViewInnovations(const MessageProcess& process,
                                 const View& view,
                                 VectorXd initial) {
    require_testable(process, view);
    state_ = std::make_unique<State>(process, view, std::move(initial));
}
ViewInnovations::~ViewInnovations() = default;
ViewInnovations::ViewInnovations(ViewInnovations&&) noexcept = default;

long ViewInnovations::gossip_steps_total() const {
    return state_->process.rounds() * state_->process.gossip.steps();
}

const std::vector<int>& ViewInnovations::unknown_agents() const {
    return state_->predicted.unknown_agents();
}

ViewInnovations::Innovation ViewInnovations::next(const SeenStep& seen) {
    State& s = *state_;
    if (s.time >= gossip_steps_total())
        throw ConfigError(fmt::format("test of a view: it covers {} rounds", s.process.rounds()));
    const LinearStep& step = s.model.at(s.time);
    const ViewFilter::Gain& gain = s.filter.at(s.time);
    MatrixXd observed = s.predicted.less_seen(seen);
    observed -= step.observation * s.estimate;
    Innovation result = innovation_of(gain.whitening, observed);
    s.estimate = carry_on(step, gain, s.estimate, result.whitened, 1);
    ++s.time;
    return result;
}

ViewInnovations::Innovation ViewInnovations::responses(std::span<const int> agents,
                                                       const MatrixXd& contributions) const {
    const State& s = *state_;
    const auto count = static_cast<Index>(agents.size());
    if (contributions.rows() != s.process.rounds() || contributions.cols() != count)
        throw ConfigError(
            fmt::format("test of a view: {} x {} contributions of {} agents in {} rounds",
                        contributions.rows(),
                        contributions.cols(),
                        count,
                        s.process.rounds()));
    Innovation result{MatrixXd(0, count), MatrixXd(0, count)};
    MatrixXd state(0, count);
    for (long time = 0; time < gossip_steps_total(); ++time) {
        const LinearStep& step = s.model.at(time);
        const ViewFilter::Gain& gain = s.filter.at(time);
        MatrixXd observed = step.observation * state;
        const long round = time / s.process.gossip.steps();
        const bool injects = time % s.process.gossip.steps() == 0;
        MatrixXd input;
        if (injects) {
            input = MatrixXd::Zero(s.plan.agents, count);
            for (Index j = 0; j < count; ++j)
                input(agents[static_cast<std::size_t>(j)], j) =
                    s.model.input_scale[static_cast<std::size_t>(round)] * contributions(round, j);
            observed += step.observed_input * input;
        }
        const Innovation response = innovation_of(gain.whitening, observed);
        append_rows(result.whitened, response.whitened);
        append_rows(result.noiseless, response.noiseless);
        MatrixXd next = carry_on(step, gain, state, response.whitened, -1);
        if (injects) next += step.state_input * input;
        state = std::move(next);
    }
    return result;
}

}  // namespace sotto
