#include "agent/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "agent/agent_fixtures.hpp"
#include "learn/logistic.hpp"
#include "learn/quadratic.hpp"
#include "learn/readers.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr int n = 5;

double logistic_loss(const Dataset& data, Eigen::Index row, const Eigen::VectorXd& model) {
    const Eigen::VectorXd features = data.features.row(row).transpose();
    const double score = features.dot(model.head(features.size())) + model(features.size());
    return std::log1p(std::exp(-data.labels(row) * score));
}

double mean_loss(const Dataset& data, const Eigen::VectorXd& model) {
    double sum = 0;
    for (Eigen::Index row = 0; row < data.records(); ++row) sum += logistic_loss(data, row, model);
    return sum / static_cast<double>(data.records());
}

double accuracy(const Dataset& data, const Eigen::VectorXd& model) {
    const Eigen::VectorXd probabilities = logistic_probabilities(model, data);
    double correct = 0;
    for (Eigen::Index row = 0; row < data.records(); ++row)
        correct += (probabilities(row) >= 0.5) == (data.labels(row) > 0) ? 1 : 0;
    return correct / static_cast<double>(data.records());
}

struct Problem {
    Dataset data = synthetic_binary(300, 8);
    std::shared_ptr<const Dataset> test = std::make_shared<const Dataset>(synthetic_binary(83, 9));
    std::vector<Dataset> shards;
    std::vector<LocalAgent> agents;
    Eigen::MatrixXd models{124, n};

    Problem() {
        std::vector<Eigen::Index> rows;
        for (Eigen::Index i = 0; i < data.records(); ++i) rows.push_back(i);
        const auto parts =
            partition_rows(rows, data.labels, n, {PartitionSpec::Kind::dirichlet, 2, 1}, 3);
        SeededRandom random(1, "test.agent.evaluation");
        for (int u = 0; u < n; ++u) {
            shards.push_back(select_rows(data, parts[static_cast<std::size_t>(u)]));
            agents.push_back(test::local_agent(u, make_logistic_objective(shards.back(), test), 1));
            for (double& value : models.col(u)) value = 0.5 * random.normal();
        }
    }
    /// F(x) = average of the agents' mean losses + l2/2 |x|^2.
    [[nodiscard]] double objective(const Eigen::VectorXd& model, double l2) const {
        double sum = 0;
        for (const auto& shard : shards) sum += mean_loss(shard, model);
        return sum / n + 0.5 * l2 * model.squaredNorm();
    }
};

TEST(Evaluation, IsWhatItsFieldsSay) {
    for (const int threads : {1, 2})
        for (const double l2 : {0.0, 0.3}) {
            Problem problem;
            const auto network = make_memory_network(n, threads);
            const double minimum = 0.123;
            const Evaluation got =
                evaluate(*network, problem.agents, problem.models, l2, minimum, {}, threads);
            const Eigen::VectorXd mean = problem.models.rowwise().mean();
            double loss = 0, worst = 0, correct = 0, own = 0, distance = 0;
            for (int u = 0; u < n; ++u) {
                const Eigen::VectorXd model = problem.models.col(u);
                const double of_agent = mean_loss(*problem.test, model);
                loss += of_agent / n;
                worst = std::max(worst, of_agent);
                correct += accuracy(*problem.test, model) / n;
                own += (mean_loss(problem.shards[static_cast<std::size_t>(u)], model) +
                        0.5 * l2 * model.squaredNorm()) /
                       n;
                distance += (model - mean).squaredNorm() / n;
            }
            EXPECT_NEAR(got.test_loss, loss, 1e-12);
            EXPECT_NEAR(got.test_loss_worst, worst, 1e-12);
            EXPECT_NEAR(got.test_accuracy, correct, 1e-12);
            EXPECT_NEAR(got.test_loss_mean_model, mean_loss(*problem.test, mean), 1e-12);
            EXPECT_NEAR(got.test_accuracy_mean_model, accuracy(*problem.test, mean), 1e-12);
            EXPECT_NEAR(got.train_loss_mean_model, problem.objective(mean, l2), 1e-12);
            EXPECT_NEAR(got.consensus_distance, std::sqrt(distance), 1e-12);
            EXPECT_NEAR(got.optimality_gap, problem.objective(mean, l2) - minimum, 1e-12);
            EXPECT_NEAR(got.optimality_gap_agents, own - minimum, 1e-12);
            EXPECT_TRUE(mean_model(*network, problem.models).isApprox(mean, 1e-14));
        }
}

TEST(Evaluation, LeavesOutTheModelsOfLiars) {
    Problem problem;
    const auto network = make_memory_network(n, 1);
    const double minimum = 0.123;
    problem.models.col(1).setConstant(1e6);
    problem.agents[1].lies = true;
    EvaluatedRecords records;
    records.liars = 1;
    const Evaluation got =
        evaluate(*network, problem.agents, problem.models, 0, minimum, records, 1);
    Eigen::VectorXd mean = Eigen::VectorXd::Zero(problem.models.rows());
    for (int u = 0; u < n; ++u)
        if (u != 1) mean += problem.models.col(u) / (n - 1);
    double loss = 0, worst = 0, distance = 0;
    for (int u = 0; u < n; ++u) {
        if (u == 1) continue;
        const Eigen::VectorXd model = problem.models.col(u);
        loss += mean_loss(*problem.test, model) / (n - 1);
        worst = std::max(worst, mean_loss(*problem.test, model));
        distance += (model - mean).squaredNorm() / (n - 1);
    }
    EXPECT_NEAR(got.test_loss, loss, 1e-12);
    EXPECT_NEAR(got.test_loss_worst, worst, 1e-12);
    EXPECT_NEAR(got.test_loss_mean_model, mean_loss(*problem.test, mean), 1e-12);
    EXPECT_NEAR(got.consensus_distance, std::sqrt(distance), 1e-12);
    EXPECT_EQ(got.records.liars, 1);
}

/// Mean loss over rows first, first + stride, ...
double mean_loss(const Dataset& data,
                 const Eigen::VectorXd& model,
                 Eigen::Index first,
                 Eigen::Index stride) {
    double sum = 0, count = 0;
    for (Eigen::Index row = first; row < data.records(); row += stride, ++count)
        sum += logistic_loss(data, row, model);
    return sum / count;
}

TEST(Evaluation, OfAShareReadsRowsAtEqualDistancesAndOtherOnesForEveryAgent) {
    for (const int threads : {1, 2}) {
        Problem problem;
        const auto network = make_memory_network(n, threads);
        const EvaluatedRecords share{10, 13};  // of 83 test records
        const Evaluation got =
            evaluate(*network, problem.agents, problem.models, 0, std::nullopt, share, threads);
        const Eigen::VectorXd mean = problem.models.rowwise().mean();
        double own = 0, worst = 0, train = 0, at_mean = 0, rows = 0;
        for (int u = 0; u < n; ++u) {
            const Eigen::VectorXd model = problem.models.col(u);
            const double loss = mean_loss(*problem.test, model, u, 9);
            own += loss / n;
            worst = std::max(worst, loss);
            const Dataset& shard = problem.shards[static_cast<std::size_t>(u)];
            train += mean_loss(shard, mean, 0, (shard.records() + 12) / 13) / n;
            // Every second test record, by the five agents in turn.
            for (Eigen::Index row = 2 * u; row < problem.test->records(); row += 10, ++rows)
                at_mean += logistic_loss(*problem.test, row, mean);
        }
        EXPECT_EQ(rows, 42);
        EXPECT_NEAR(got.test_loss, own, 1e-12);
        EXPECT_NEAR(got.test_loss_worst, worst, 1e-12);
        EXPECT_NEAR(got.test_loss_mean_model, at_mean / rows, 1e-12);
        EXPECT_NEAR(got.train_loss_mean_model, train, 1e-12);
        EXPECT_EQ(got.records.test, 10);
        EXPECT_EQ(got.records.train, 13);
    }
}

/// Agents of which each has test records of its own, in number too.
struct OwnTests : Problem {
    std::vector<std::shared_ptr<const Dataset>> tests;

    OwnTests() {
        for (int u = 0; u < n; ++u) {
            const auto own = static_cast<std::size_t>(u);
            tests.push_back(std::make_shared<const Dataset>(
                synthetic_binary(20 + 30 * u, static_cast<std::uint64_t>(40 + u))));
            agents[own] = test::local_agent(u, make_logistic_objective(shards[own], tests[own]), 1);
        }
    }
};

TEST(Evaluation, OfTheAverageReadsAllTestRecordsOfAllAgentsWhereEachHasItsOwn) {
    for (const int threads : {1, 2}) {
        OwnTests problem;
        const auto network = make_memory_network(n, threads);
        const EvaluatedRecords all{std::nullopt, std::nullopt, true};
        const Evaluation got =
            evaluate(*network, problem.agents, problem.models, 0, std::nullopt, all, threads);
        const Eigen::VectorXd mean = problem.models.rowwise().mean();
        double own = 0, own_correct = 0, at_mean = 0, correct = 0, records = 0, worst = 0;
        for (int u = 0; u < n; ++u) {
            const Dataset& data = *problem.tests[static_cast<std::size_t>(u)];
            const auto count = static_cast<double>(data.records());
            own += count * mean_loss(data, problem.models.col(u));
            own_correct += count * accuracy(data, problem.models.col(u));
            worst = std::max(worst, mean_loss(data, problem.models.col(u)));
            at_mean += count * mean_loss(data, mean);
            correct += count * accuracy(data, mean);
            records += count;
        }
        ASSERT_EQ(records, 400);
        EXPECT_NEAR(got.test_loss_mean_model, at_mean / records, 1e-12);
        EXPECT_NEAR(got.test_accuracy_mean_model, correct / records, 1e-12);
        EXPECT_NEAR(got.test_loss, own / records, 1e-12);
        EXPECT_NEAR(got.test_accuracy, own_correct / records, 1e-12);
        EXPECT_NEAR(got.test_loss_worst, worst, 1e-12);
    }
}

TEST(Evaluation, OfEqualModelsIsThatOfTheirAverageHoweverFewRecordsAreRead) {
    OwnTests problem;
    const auto network = make_memory_network(n, 1);
    for (int u = 1; u < n; ++u) problem.models.col(u) = problem.models.col(0);
    for (const std::optional<long> most : {std::optional<long>(), std::optional<long>(7)}) {
        const Evaluation got = evaluate(*network,
                                        problem.agents,
                                        problem.models,
                                        0,
                                        std::nullopt,
                                        {most, std::nullopt, true},
                                        1);
        EXPECT_NEAR(got.consensus_distance, 0, 1e-12);
        EXPECT_NEAR(got.test_loss, got.test_loss_mean_model, 1e-12);
        EXPECT_NEAR(got.test_accuracy, got.test_accuracy_mean_model, 1e-12);
    }
}

TEST(Evaluation, OfAsManyRecordsAsThereAreIsThatOfAll) {
    Problem problem;
    const auto network = make_memory_network(n, 1);
    const auto with = [&](const EvaluatedRecords& records) {
        return evaluate(*network, problem.agents, problem.models, 0.1, std::nullopt, records, 1);
    };
    const Evaluation all = with({}), many = with({83, std::numeric_limits<long>::max()});
    EXPECT_EQ(many.test_loss, all.test_loss);
    EXPECT_EQ(many.test_accuracy, all.test_accuracy);
    EXPECT_EQ(many.test_loss_mean_model, all.test_loss_mean_model);
    EXPECT_EQ(many.train_loss_mean_model, all.train_loss_mean_model);
}

TEST(Evaluation, ComparesTheTrainingLossOfAllRecordsWithTheLowest) {
    Problem problem;
    const auto network = make_memory_network(n, 1);
    const double minimum = 0.123;
    const Evaluation got =
        evaluate(*network, problem.agents, problem.models, 0.1, minimum, {10, 13}, 1);
    const Eigen::VectorXd mean = problem.models.rowwise().mean();
    EXPECT_NEAR(got.train_loss_mean_model, problem.objective(mean, 0.1), 1e-12);
    EXPECT_NEAR(got.optimality_gap, problem.objective(mean, 0.1) - minimum, 1e-12);
    EXPECT_EQ(got.records.test, 10);
    EXPECT_FALSE(got.records.train);
}

TEST(Evaluation, LeavesOutWhatIsNotKnown) {
    Problem problem;
    const auto network = make_memory_network(n, 1);
    const Evaluation no_minimum =
        evaluate(*network, problem.agents, problem.models, 0, std::nullopt, {}, 1);
    EXPECT_TRUE(std::isnan(no_minimum.optimality_gap));
    EXPECT_TRUE(std::isnan(no_minimum.optimality_gap_agents));
    std::vector<LocalAgent> quadratic;
    for (int u = 0; u < n; ++u)
        quadratic.push_back(test::local_agent(u, make_quadratic_objective(u, n), 1));
    const Evaluation no_classes =
        evaluate(*network, quadratic, Eigen::MatrixXd::Ones(2, n), 0, std::nullopt, {}, 1);
    EXPECT_TRUE(std::isnan(no_classes.test_accuracy));
    EXPECT_TRUE(std::isnan(no_classes.test_accuracy_mean_model));
    EXPECT_EQ(no_classes.consensus_distance, 0);
}

TEST(MinimumOfAverage, IsAttainedAndNoPointIsBelowIt) {
    Problem problem;
    const auto network = make_memory_network(n, 1);
    for (const double l2 : {0.03, 1.0}) {
        const auto minimum = minimum_of_average(*network, problem.agents, l2, 1);
        ASSERT_TRUE(minimum);
        // Gradient descent of its own, in plain loops over records.
        Eigen::VectorXd model = Eigen::VectorXd::Zero(124);
        for (int step = 0; step < 1500; ++step) {
            Eigen::VectorXd gradient = l2 * model;
            for (const auto& shard : problem.shards) {
                Eigen::VectorXd slopes = logistic_probabilities(model, shard);
                for (Eigen::Index row = 0; row < shard.records(); ++row)
                    slopes(row) -= shard.labels(row) > 0 ? 1 : 0;
                slopes /= static_cast<double>(n * shard.records());
                gradient.head(123) += shard.features.transpose() * slopes;
                gradient(123) += slopes.sum();
            }
            model -= 0.2 * gradient;
        }
        EXPECT_NEAR(problem.objective(model, l2), *minimum, 1e-7) << "l2 " << l2;
        EXPECT_GE(problem.objective(model, l2), *minimum - 1e-11);
        for (int u = 0; u < n; ++u)
            EXPECT_GT(problem.objective(problem.models.col(u), l2), *minimum);
    }
}

TEST(MinimumOfAverage, OfTheQuadraticsSolvesTheLinearSystem) {
    for (const int agents_count : {1, 2, 7}) {
        const auto network = make_memory_network(agents_count, 1);
        std::vector<LocalAgent> agents;
        Eigen::Matrix2d hessian = Eigen::Matrix2d::Zero();
        Eigen::Vector2d slope = Eigen::Vector2d::Zero();
        for (int u = 0; u < agents_count; ++u) {
            agents.push_back(test::local_agent(u, make_quadratic_objective(u, agents_count), 1));
            const auto at_zero = agents.back().objective->curvature_sum(Eigen::Vector2d::Zero());
            hessian += at_zero->hessian / agents_count;
            slope += at_zero->gradient / agents_count;
        }
        for (const double l2 : {0.0, 2.5}) {
            const Eigen::Matrix2d regularised = hessian + l2 * Eigen::Matrix2d::Identity();
            const Eigen::VectorXd best = -regularised.inverse() * slope;
            double expected = 0.5 * l2 * best.squaredNorm();
            for (auto& agent : agents)
                expected += agent.objective->train_loss(best).loss / agents_count;
            const auto minimum = minimum_of_average(*network, agents, l2, 1);
            ASSERT_TRUE(minimum);
            EXPECT_NEAR(*minimum, expected, 1e-9 * (1 + expected));
        }
    }
}

TEST(MinimumOfAverage, IsFoundByDefaultForUpToSixtySevenMillionSecondDerivatives) {
    EXPECT_TRUE(cheap_minimum(4364, 124));
    EXPECT_FALSE(cheap_minimum(4365, 124));
    EXPECT_TRUE(cheap_minimum(256, 1'000'000)) << "of models for which there is none";
}

TEST(MinimumOfAverage, IsNotInventedForTasksWithoutCurvature) {
    const auto network = make_memory_network(2, 1);
    std::vector<LocalAgent> agents;
    agents.push_back(test::local_agent(0, make_quadratic_objective(0, 2), 1));
    agents.push_back(test::local_agent(1,
                                       std::make_unique<test::FunctionObjective>(
                                           2, [](const auto&) { return Eigen::Vector2d::Zero(); }),
                                       1));
    EXPECT_FALSE(minimum_of_average(*network, agents, 0, 1));
}

constexpr long averaged_rounds = 11;

Eigen::MatrixXd models_after(long round) {
    return Eigen::MatrixXd::Constant(3, 2, static_cast<double>(round * round + 1));
}

Smoothing tail(long length) {
    Smoothing smoothing;
    smoothing.tail_rounds = length;
    return smoothing;
}

TEST(ModelMean, IsThatOfTheLastRounds) {
    ModelMean mean(tail(4), averaged_rounds);
    mean.start(models_after(100));
    double sum = 0;
    for (long t = 0; t < averaged_rounds; ++t) {
        EXPECT_EQ(mean.values().cols() > 0, t > averaged_rounds - 4) << t;
        mean.add(t, models_after(t));
        if (t >= averaged_rounds - 4) sum += models_after(t)(0, 0);
    }
    EXPECT_NEAR(mean.values()(2, 1), sum / 4, 1e-12);
}

TEST(ModelMean, ThatIsExponentialStartsFromTheFirstModels) {
    Smoothing smoothing;
    smoothing.decay = 0.75;
    ModelMean mean(smoothing, averaged_rounds);
    mean.start(models_after(0));
    double expected = models_after(0)(0, 0);
    for (long t = 0; t < averaged_rounds; ++t) {
        mean.add(t, models_after(t + 1));
        expected = 0.75 * expected + 0.25 * models_after(t + 1)(0, 0);
    }
    EXPECT_NEAR(mean.values()(0, 0), expected, 1e-12);
}

TEST(ModelMean, GoesOnBitForBit) {
    Smoothing exponential;
    exponential.decay = 0.6;
    for (const Smoothing& smoothing : {tail(5), exponential}) {
        ModelMean whole(smoothing, averaged_rounds);
        whole.start(models_after(0));
        for (long stop = 0; stop <= averaged_rounds; ++stop) {
            ModelMean first(smoothing, averaged_rounds);
            first.start(models_after(0));
            for (long t = 0; t < stop; ++t) first.add(t, models_after(t));
            ModelMean second(smoothing, averaged_rounds);
            second.start(models_after(stop));
            second.resume(first.values(), models_after(stop), stop);
            for (long t = stop; t < averaged_rounds; ++t) second.add(t, models_after(t));
            if (stop == 0)
                whole = second;
            else
                EXPECT_EQ(second.values(), whole.values()) << stop;
        }
    }
}

TEST(ModelMean, OfNothingIsKeptWhereNoneIsAskedFor) {
    ModelMean mean(Smoothing{}, averaged_rounds);
    mean.start(models_after(0));
    mean.add(averaged_rounds - 1, models_after(1));
    EXPECT_EQ(mean.values().cols(), 0);
}

TEST(ModelMean, RefusesToGoOnWithAnotherNumberOfMeans) {
    ModelMean mean(tail(4), averaged_rounds);
    const Eigen::MatrixXd none(3, 0);
    EXPECT_NO_THROW(mean.resume(none, models_after(0), averaged_rounds - 4));
    EXPECT_THROW(mean.resume(none, models_after(0), averaged_rounds - 3), DataError);
    EXPECT_THROW(mean.resume(models_after(0), models_after(0), 1), DataError);
    EXPECT_THROW(mean.resume(Eigen::MatrixXd::Zero(2, 2), models_after(0), averaged_rounds - 1),
                 DataError);
}

}  // namespace
}  // namespace sotto
