#include "agent/evaluation.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>

#include "agent/message_mixing.hpp"
#include "agent/trainer.hpp"
#include "core/parallel.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

double mean_loss(const LossSum& sum) {
    return sum.records > 0 ? sum.loss / static_cast<double>(sum.records) : Evaluation::unknown;
}

double mean_accuracy(const LossSum& sum) {
    return sum.has_accuracy ? sum.correct / static_cast<double>(sum.records) : Evaluation::unknown;
}

/// Weight of an agent's figures: its test records if these are its own, otherwise equal.
double weight_of(const LossSum& own, const EvaluatedRecords& records) {
    return records.own_tests && own.records > 0 ? static_cast<double>(own.records) : 1;
}

/// sum_over_agents of vectors that are made for some agents at a time where one process has all,
/// since all of them together need much memory. COLLECTIVE.
/// @param rows of a vector, which `fill` gets with zeros and the place of its agent.
Eigen::VectorXd sum_of_all(Control& network,
                           long agents,
                           Eigen::Index rows,
                           int threads,
                           const std::function<void(long, Eigen::Ref<Eigen::VectorXd>)>& fill) {
    constexpr long some = 64;
    const bool all_here = network.processes() == 1;
    const long most = all_here ? std::min(some, agents) : agents;
    Eigen::MatrixXd vectors;
    Eigen::VectorXd total;
    for (long first = 0; first < agents; first += most) {
        vectors.setZero(rows, std::min(most, agents - first));
        parallel_for(vectors.cols(), threads, [&](long v) { fill(first + v, vectors.col(v)); });
        if (!all_here) return network.sum_over_agents(vectors);
        for (Eigen::Index v = 0; v < vectors.cols(); ++v)
            if (first + v == 0)
                total = vectors.col(0);
            else
                total += vectors.col(v);
    }
    return total;
}

std::optional<Curvature> average_curvature(Control& network,
                                           std::vector<LocalAgent>& agents,
                                           const Eigen::VectorXd& model,
                                           double l2,
                                           int threads) {
    const Eigen::Index d = model.size();
    const auto of_agent = [&](long a, Eigen::Ref<Eigen::VectorXd> packed) {
        Objective& objective = *agents[static_cast<std::size_t>(a)].objective;
        const auto local = objective.curvature_sum(model);
        if (!local) return;
        const double scale = 1.0 / static_cast<double>(objective.records());
        packed(0) = 1;
        packed(1) = scale * local->loss;
        packed.segment(2, d) = scale * local->gradient;
        packed.tail(d * d) =
            scale * Eigen::Map<const Eigen::VectorXd>(local->hessian.data(), d * d);
    };
    const Eigen::VectorXd sum =
        sum_of_all(network, std::ssize(agents), 2 + d + d * d, threads, of_agent) /
        network.agents();
    if (sum(0) != 1) return std::nullopt;
    Curvature result;
    result.loss = sum(1) + 0.5 * l2 * model.squaredNorm();
    result.gradient = sum.segment(2, d) + l2 * model;
    result.hessian = Eigen::Map<const Eigen::MatrixXd>(sum.data() + 2 + d, d, d);
    result.hessian.diagonal().array() += l2;
    return result;
}

/// Row distance that reads at most `most` of `records`.
Eigen::Index stride_for(Eigen::Index records, const std::optional<long>& most) {
    if (!most || records <= *most) return 1;
    return records / *most + (records % *most > 0 ? 1 : 0);
}

/// Each agent's own model over so many test records, starting at different rows.
std::vector<LossSum> own_losses_of_share(std::vector<LocalAgent>& agents,
                                         const Eigen::MatrixXd& models,
                                         long most,
                                         int threads) {
    std::vector<LossSum> losses(agents.size());
    parallel_for(models.cols(), threads, [&](long a) {
        LocalAgent& agent = agents[static_cast<std::size_t>(a)];
        const Eigen::Index stride = stride_for(agent.objective->test_records(), most);
        losses[static_cast<std::size_t>(a)] =
            agent.objective->test_loss(models.col(a), agent.id % stride, stride);
    });
    return losses;
}

/// Over an agent's part of the test set, disjoint from others', of at most so many records; with
/// own test records over the rows of its own model's loss.
LossSum losses_of_part(LocalAgent& agent,
                       Eigen::Index agents,
                       const Eigen::VectorXd& model,
                       const EvaluatedRecords& records) {
    const std::optional<long>& most = records.test;
    if (records.own_tests) {
        const Eigen::Index stride = stride_for(agent.objective->test_records(), most);
        return agent.objective->test_loss(model, agent.id % stride, stride);
    }
    const Eigen::Index every =
        stride_for((agent.objective->test_records() + agents - 1) / agents, most);
    return agent.objective->test_loss(model, agent.id * every, agents * every);
}

/// Every agent's own model over the whole test set, which agents of one task read together.
std::vector<LossSum> own_test_losses(std::vector<LocalAgent>& agents,
                                     const Eigen::MatrixXd& models,
                                     int threads) {
    const auto count = std::ssize(agents);
    const auto parts = std::min<std::ptrdiff_t>(threads, count);
    std::vector<LossSum> losses(agents.size());
    parallel_for(parts, threads, [&](long part) {
        const auto end = count * (part + 1) / parts;
        for (auto a = count * part / parts; a < end;) {
            Objective& objective = *agents[static_cast<std::size_t>(a)].objective;
            auto next = a + 1;
            while (next < end &&
                   objective.shares_test(*agents[static_cast<std::size_t>(next)].objective))
                ++next;
            std::ranges::copy(objective.test_losses(models.middleCols(a, next - a)),
                              losses.begin() + a);
            a = next;
        }
    });
    return losses;
}

Eigen::MatrixXd without_liars(Eigen::MatrixXd models, const std::vector<LocalAgent>& agents) {
    for (std::size_t a = 0; a < agents.size(); ++a)
        if (agents[a].lies) models.col(static_cast<Eigen::Index>(a)).setZero();
    return models;
}

/// Of mean losses; a liar has weight 0.
double worst_of_honest(Control& network,
                       const Eigen::RowVectorXd& losses,
                       const Eigen::RowVectorXd& weights) {
    Eigen::MatrixXd result = losses.cwiseQuotient(weights);
    for (Eigen::Index a = 0; a < weights.size(); ++a)
        if (weights(a) == 0) result(0, a) = -infinity;
    return network.maximum_over_agents(result)(0);
}

}  // namespace

Eigen::VectorXd mean_model(Control& network, const Eigen::MatrixXd& models, int counted) {
    Eigen::VectorXd mean = network.sum_over_agents(
        models, require_collected_in_range("model for evaluation", largest_model_value));
    mean /= counted > 0 ? counted : network.agents();
    require_collected_in_range("average of the models", largest_model_value)(
        0, 0, {mean.data(), static_cast<std::size_t>(mean.size())});
    return mean;
}

namespace {

/// The average of the models of agents that do not lie.
Eigen::VectorXd mean_of_honest(Control& network,
                               const Eigen::MatrixXd& models,
                               const std::vector<LocalAgent>& agents,
                               int honest) {
    if (honest == network.agents()) return mean_model(network, models);
    return mean_model(network, without_liars(models, agents), honest);
}

std::vector<LossSum> own_losses_of(std::vector<LocalAgent>& agents,
                                   const Eigen::MatrixXd& models,
                                   const EvaluatedRecords& records,
                                   int threads) {
    return records.test ? own_losses_of_share(agents, models, *records.test, threads)
                        : own_test_losses(agents, models, threads);
}

}  // namespace

Evaluation evaluate(Control& network,
                    std::vector<LocalAgent>& agents,
                    const Eigen::MatrixXd& models,
                    double l2,
                    std::optional<double> minimum,
                    const EvaluatedRecords& records,
                    int threads) {
    enum Row {
        own_loss,
        own_accuracy,
        own_weight,
        slice_loss,
        slice_correct,
        slice_records,
        train_at_mean,
        train_at_own,
        distance,
        rows
    };
    const int honest = network.agents() - records.liars;
    const Eigen::VectorXd mean = mean_of_honest(network, models, agents, honest);
    Eigen::MatrixXd local(static_cast<Eigen::Index>(rows), models.cols());
    const std::vector<LossSum> own_losses = own_losses_of(agents, models, records, threads);
    // F* is of all records, so its gap is too.
    const std::optional<long> train_records = minimum ? std::nullopt : records.train;
    parallel_for(models.cols(), threads, [&](long a) {
        LocalAgent& agent = agents[static_cast<std::size_t>(a)];
        Objective& objective = *agent.objective;
        const LossSum& own = own_losses[static_cast<std::size_t>(a)];
        const LossSum slice = losses_of_part(agent, network.agents(), mean, records);
        auto column = local.col(a);
        const double weight = column(own_weight) = weight_of(own, records);
        column(own_loss) = weight * mean_loss(own);
        column(own_accuracy) = weight * mean_accuracy(own);
        column(slice_loss) = slice.loss;
        column(slice_correct) = slice.has_accuracy ? slice.correct : Evaluation::unknown;
        column(slice_records) = static_cast<double>(slice.records);
        column(train_at_mean) = mean_loss(
            objective.train_loss_of_share(mean, stride_for(objective.records(), train_records)));
        column(train_at_own) = minimum ? mean_loss(objective.train_loss(models.col(a))) +
                                             0.5 * l2 * models.col(a).squaredNorm()
                                       : 0;
        column(distance) = (models.col(a) - mean).squaredNorm();
        if (agent.lies)
            column(own_loss) = column(own_accuracy) = column(own_weight) = column(train_at_own) =
                column(distance) = 0;
    });
    // Losses may have any value; the distance of a model from the mean may not.
    const auto distance_in_range = require_collected_in_range(
        "distance of a model", largest_model_value * largest_model_value * 1e20);
    const Eigen::VectorXd sum = network.sum_over_agents(
        local, [&](int agent, Eigen::Index first, std::span<const double> values) {
            distance_in_range(agent, first + distance, values.subspan(distance, 1));
        });
    Evaluation result;
    result.records = {records.test, train_records, records.own_tests, records.liars};
    result.test_loss = sum(own_loss) / sum(own_weight);
    result.test_loss_worst = worst_of_honest(network, local.row(own_loss), local.row(own_weight));
    result.test_accuracy = sum(own_accuracy) / sum(own_weight);
    result.test_loss_mean_model = sum(slice_loss) / sum(slice_records);
    result.test_accuracy_mean_model = sum(slice_correct) / sum(slice_records);
    result.train_loss_mean_model =
        sum(train_at_mean) / network.agents() + 0.5 * l2 * mean.squaredNorm();
    result.largest_parameter = mean.cwiseAbs().maxCoeff();
    result.consensus_distance = std::sqrt(sum(distance) / honest);
    if (!minimum) return result;
    result.optimality_gap = result.train_loss_mean_model - *minimum;
    result.optimality_gap_agents = sum(train_at_own) / honest - *minimum;
    return result;
}

bool cheap_minimum(int agents, Eigen::Index dimension) {
    constexpr double most_values = 1 << 26;
    const auto d = static_cast<double>(std::min(dimension, largest_dimension_with_minimum));
    return agents * d * d <= most_values;
}

std::optional<double> minimum_of_average(Control& network,
                                         std::vector<LocalAgent>& agents,
                                         double l2,
                                         int threads) {
    const Eigen::Index d = agents.front().objective->dimension();
    if (d > largest_dimension_with_minimum) return std::nullopt;
    Eigen::VectorXd model = Eigen::VectorXd::Zero(d);
    auto here = average_curvature(network, agents, model, l2, threads);
    for (int iteration = 0; here && iteration < 60; ++iteration) {
        // Leaves directions without data or curvature unchanged.
        here->hessian.diagonal().array() += 1e-10 * (1 + here->hessian.diagonal().maxCoeff());
        const Eigen::VectorXd direction = here->hessian.ldlt().solve(here->gradient);
        const double decrement = here->gradient.dot(direction);
        if (!(decrement > 1e-10 * (1 + std::abs(here->loss)))) return here->loss;
        bool moved = false;
        for (double length = 1; length > 1e-6 && !moved; length *= 0.5) {
            const Eigen::VectorXd candidate = model - length * direction;
            auto there = average_curvature(network, agents, candidate, l2, threads);
            moved = there && there->loss < here->loss - 1e-4 * length * decrement;
            if (moved) {
                model = candidate;
                here = std::move(there);
            }
        }
        // The loss is flat up to rounding: this is the minimum.
        if (!moved) return decrement < 1e-9 ? std::optional(here->loss) : std::nullopt;
    }
    return std::nullopt;
}

ModelMean::ModelMean(const Smoothing& smoothing, long rounds)
    : decay_(smoothing.decay), rounds_(rounds) {
    if (smoothing.averages()) tail_ = decay_ > 0 ? rounds : smoothing.tail_rounds;
}

void ModelMean::start(const Eigen::MatrixXd& models) {
    if (decay_ > 0) values_ = models;
}

void ModelMean::resume(const Eigen::MatrixXd& values,
                       const Eigen::MatrixXd& models,
                       long rounds_done) {
    const bool kept = tail_ > 0 && (decay_ > 0 || rounds_done > first_round());
    const Eigen::Index columns = kept ? models.cols() : 0;
    if (values.cols() != columns || (kept && values.rows() != models.rows()))
        throw DataError(
            fmt::format("means of models to go on from: {} x {} after round {} (allowed: {} x {})",
                        values.rows(),
                        values.cols(),
                        rounds_done,
                        models.rows(),
                        columns));
    values_ = values;
}

void ModelMean::add(long round, const Eigen::MatrixXd& models) {
    if (tail_ == 0 || round < first_round()) return;
    if (decay_ > 0) {
        values_ = decay_ * values_ + (1 - decay_) * models;
        return;
    }
    if (values_.cols() == 0) values_.setZero(models.rows(), models.cols());
    values_ += (models - values_) / static_cast<double>(round - first_round() + 1);
}

}  // namespace sotto
