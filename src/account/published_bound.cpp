#include "account/published_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/parallel.hpp"
#include "graph/spectrum.hpp"
#include "views/gossip_bounds.hpp"

namespace sotto {

Registry<PublishedBound>& published_bounds() {
    static Registry<PublishedBound> table("published bounds",
                                          {muffliato_record(),
                                           gossip_sums_record(),
                                           gossip_messages_record(),
                                           disagreement_record(),
                                           descent_record(),
                                           stationarity_record()});
    return table;
}

std::vector<const PublishedBound*> view_bounds() {
    std::vector<const PublishedBound*> bounds;
    for (const PublishedBound& bound : published_bounds().records())
        if (bound.of_view != nullptr) bounds.push_back(&bound);
    return bounds;
}

std::vector<const PublishedBound*> training_bounds() {
    std::vector<const PublishedBound*> bounds;
    for (const PublishedBound& bound : published_bounds().records())
        if (bound.of_training != nullptr) bounds.push_back(&bound);
    return bounds;
}

std::vector<TrainingBoundFigure> bounds_of_training(const TrainingBoundInput& input) {
    std::vector<TrainingBoundFigure> figures;
    for (const PublishedBound* bound : training_bounds())
        if (const auto value = bound->of_training(input)) figures.push_back({bound, *value});
    return figures;
}

namespace {

constexpr double rounding_of_weights = 1e-9;

bool is_symmetric(const MixingMatrix& mixing) {
    const SparseRows& weights = mixing.sparse();
    const SparseRows transposed = weights.transpose();
    return SparseRows(weights - transposed).norm() <= rounding_of_weights * weights.norm() &&
           (weights.nonZeros() == 0 || weights.coeffs().minCoeff() >= 0);
}

/// sum_v w_vu q_uv = 0 for every sender u and stream.
bool cancels_in_the_mean(const NoisePlan& plan, const MixingMatrix& mixing) {
    std::map<std::pair<int, int>, std::pair<double, double>> sums;  // signed, of absolute values
    for (const NoiseRow& row : plan.rows) {
        if (row.receiver == NoiseRow::all_receivers) return false;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            auto& [sum, size] = sums[{row.sender, row.streams[j]}];
            const double weighted = mixing.weight(row.receiver, row.sender) * row.coefficients[j];
            sum += weighted;
            size += std::abs(weighted);
        }
    }
    return std::ranges::all_of(sums, [](const auto& entry) {
        const auto& [sum, size] = entry.second;
        return std::abs(sum) <= rounding_of_weights * size;
    });
}

double variance_of(const NoiseRow& row, const NoisePlan& plan) {
    double variance = 0;
    for (std::size_t j = 0; j < row.streams.size(); ++j)
        variance +=
            row.coefficients[j] * row.coefficients[j] *
            unit_variance(plan.streams[static_cast<std::size_t>(row.streams[j])].distribution);
    return plan.scale * plan.scale * variance;
}

/// The largest over agents, of one coordinate.
double noise_in_a_model(const NoisePlan& plan, const MixingMatrix& mixing) {
    Eigen::VectorXd noise = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        noise(row.receiver) +=
            variance_of(row, plan) *
            (row.sender == row.receiver ? 1 : mixing.weight(row.receiver, row.sender));
    return noise.maxCoeff();
}

}  // namespace

std::optional<CancellingNoise> cancelling_noise(const TrainingBoundInput& input) {
    const PlanConfig& config = input.config;
    const MixingMatrix& mixing = input.topography.mixing;
    if (input.plan.noiseless() || input.plan.entry != NoiseEntry::message ||
        input.plan.aggregation != Aggregation::gossip || config.gossip_steps != 1 ||
        config.momentum != 0 || config.correction != Correction::none || config.learn_clip ||
        !input.topography.later_mixing.empty() ||
        config.steps.kind != StepSchedule::Kind::constant || !is_symmetric(mixing) ||
        !cancels_in_the_mean(input.plan, mixing))
        return std::nullopt;
    CancellingNoise terms;
    terms.step = config.steps.step_size;
    terms.gradient_norm = config.clip_norm;
    terms.second_eigenvalue = second_eigenvalue_modulus(mixing);
    terms.noise = static_cast<double>(input.dimension) * noise_in_a_model(input.plan, mixing);
    if (!(terms.second_eigenvalue < 1)) return std::nullopt;
    return terms;
}

namespace {

/// mu/2 (1 + 2 delta mu) delta^2 noise / (1 - lambda_2) + 2 delta mu^2 G^2.
std::optional<double> descent_of(const TrainingBoundInput& input) {
    const auto terms = cancelling_noise(input);
    if (!terms || !input.smoothness) return std::nullopt;
    const double smooth = *input.smoothness, step = terms->step;
    const double length = step * terms->gradient_norm;
    return 0.5 * step * (1 + 2 * smooth * step) * smooth * smooth * terms->noise /
               (1 - terms->second_eigenvalue) +
           2 * smooth * length * length;
}

}  // namespace

PublishedBound descent_record() {
    return {.name = "descent_bound",
            .title = "[H] thm 2",
            .source = "[H] Theorem 2",
            .says =
                "the most that a round adds to the expected loss of the mean model, apart from "
                "descent; terms of the step's third power are left out",
            .of_training = descent_of};
}

namespace {

/// mu^2 lambda_2^2 G^2 / (1 - lambda_2)^2 + noise / (1 - lambda_2).
std::optional<double> disagreement_of(const TrainingBoundInput& input) {
    const auto terms = cancelling_noise(input);
    if (!terms) return std::nullopt;
    const double left = 1 - terms->second_eigenvalue;
    const double pulled = terms->step * terms->gradient_norm * terms->second_eigenvalue / left;
    return pulled * pulled + terms->noise / left;
}

}  // namespace

PublishedBound disagreement_record() {
    return {.name = "disagreement_bound",
            .title = "[H] lem 3",
            .source = "[H] Lemma 3",
            .says =
                "mean over agents of the squared distance to the mean model, in every round; "
                "its root bounds consensus_distance",
            .of_training = disagreement_of};
}

std::optional<double> equal_noise_variance(const PlanConfig& config, const NoisePlan& plan) {
    if (plan.noiseless() || plan.aggregation != Aggregation::gossip ||
        plan.entry != NoiseEntry::gradient || !plan.same_message_to_all() ||
        plan.distribution() != StreamDistribution::gaussian ||
        plan.temporal.kind != TemporalFactor::Kind::identity || config.participation.cycle != 1 ||
        config.participation.is_secret())
        return std::nullopt;
    for (const SeedGroup& group : plan.groups)
        if (group.members.size() > 1) return std::nullopt;
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(plan.agents);
    for (const NoiseRow& row : plan.rows)
        for (const double coefficient : row.coefficients)
            variance(row.sender) += plan.scale * plan.scale * coefficient * coefficient;
    if (variance.maxCoeff() - variance.minCoeff() > 1e-12 * variance.maxCoeff())
        return std::nullopt;
    return variance.mean();
}

std::optional<Eigen::VectorXd> gossip_bounds_of(GossipTheorem theorem,
                                                View::Kind seen,
                                                const ViewBoundInput& input,
                                                const View& view,
                                                std::span<const int> targets) {
    constexpr double most_work = 5e9;  // some seconds
    const MessageProcess& process = input.subject.process;
    if (view.kind != seen || view.members.empty() || !has_gossip_bound(process))
        return std::nullopt;
    const std::optional<double> variance = equal_noise_variance(input.plan, input.subject.plan);
    if (!variance ||
        input.observers * static_cast<double>(targets.size()) * gossip_bound_work(process) >
            most_work)
        return std::nullopt;
    Eigen::VectorXd bounds(std::ssize(targets));
    parallel_for(bounds.size(), input.threads, [&](long i) {
        bounds(i) =
            gossip_bound(theorem, process, view.members, targets[static_cast<std::size_t>(i)]) /
            *variance;
    });
    return bounds;
}

PublishedBound gossip_messages_record() {
    return {
        .name = "gossip_messages_bound",
        .title = "[G] thm 4",
        .source = "[G] Theorem 4",
        .says =
            "epsilon of a training whose messages neighbours see, as the paper claims it; "
            "no guarantee: gradients of others carry data on",
        .of_view = [](const ViewBoundInput& input, const View& view, std::span<const int> targets) {
            return gossip_bounds_of(
                GossipTheorem::messages, View::Kind::neighbours, input, view, targets);
        }};
}

PublishedBound gossip_sums_record() {
    return {
        .name = "gossip_sums_bound",
        .title = "[G] thm 3",
        .source = "[G] Theorem 3",
        .says =
            "epsilon of a training whose messages are seen in sums, as the paper claims it; "
            "no guarantee: gradients of others carry data on",
        .of_view = [](const ViewBoundInput& input, const View& view, std::span<const int> targets) {
            return gossip_bounds_of(
                GossipTheorem::sums, View::Kind::secure_sum, input, view, targets);
        }};
}

namespace {

constexpr double most_work_for_bound = 1e9;  // rounds times agents times edges

/// Whether all rounds are the same: mixing, agents and steps, with no other messages.
bool has_equal_rounds(const MessageProcess& process) {
    return has_gossip_bound(process) && process.phases.size() == 1 &&
           process.phases.front().mixing.fixed() && process.step_sizes.empty();
}

std::optional<Eigen::VectorXd> muffliato_of_view(const ViewBoundInput& input,
                                                 const View& view,
                                                 std::span<const int> targets) {
    const MessageProcess& process = input.subject.process;
    const Graph& graph = *process.graph;
    const double work = static_cast<double>(input.plan.rounds) * graph.agents() *
                        static_cast<double>(graph.edges().size() + 1);
    if (view.kind != View::Kind::neighbours || view.members.size() != 1 ||
        !has_equal_rounds(process) || !(work < most_work_for_bound))
        return std::nullopt;
    const std::optional<double> variance = equal_noise_variance(input.plan, input.subject.plan);
    if (!variance) return std::nullopt;
    const Eigen::VectorXd bound =
        muffliato_bound(
            graph, process.phases.front().mixing.at(0), view.members.front(), input.plan.rounds) /
        *variance;
    Eigen::VectorXd of_targets(std::ssize(targets));
    for (std::size_t t = 0; t < targets.size(); ++t)
        of_targets(static_cast<Eigen::Index>(t)) = bound(targets[t]);
    return of_targets;
}

}  // namespace

PublishedBound muffliato_record() {
    return {.name = "muffliato_bound",
            .title = "muffliato",
            .source = "Cyffers et al. 2022",
            .says =
                "epsilon of one gossip step per round for inputs fixed in advance, by Muffliato's "
                "analysis",
            .of_view = muffliato_of_view};
}

namespace {

/// What a round adds, divided by mu/2 (1 - 2 mu delta); Theorem 2 sums over rounds.
std::optional<double> stationarity_of(const TrainingBoundInput& input) {
    const std::optional<double> added = descent_record().of_training(input);
    if (!added) return std::nullopt;
    const double step = input.config.steps.step_size;
    const double kept = 1 - 2 * step * *input.smoothness;
    if (!(kept > 0)) return std::nullopt;
    return *added / (0.5 * step * kept);
}

}  // namespace

PublishedBound stationarity_record() {
    return {.name = "stationarity_bound",
            .title = "[H] cor 1",
            .source = "[H] Corollary 1",
            .says =
                "mean over rounds of the squared gradient at the mean model, after many rounds; "
                "what falls with their number is not in it",
            .of_training = stationarity_of};
}

}  // namespace sotto
