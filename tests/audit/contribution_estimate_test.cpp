#include "audit/contribution_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/audit_fixtures.hpp"
#include "audit/canary_record_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(Index rows, Index columns, std::uint64_t seed) {
    SeededRandom random(seed, "contribution estimate test");
    MatrixXd result(rows, columns);
    for (double& value : result.reshaped()) value = 2 * random.uniform() - 1;
    return result;
}

/// Innovations in two gossip steps, `extra` beside what the contributions make.
void show(ContributionEstimator& estimator,
          const ViewInnovations::Innovation& responses,
          const MatrixXd& contributions,
          const MatrixXd& extra) {
    const MatrixXd noisy = responses.whitened * contributions + extra;
    const MatrixXd noiseless = responses.noiseless * contributions;
    const Index half = noisy.rows() / 2, part = noiseless.rows() / 3;
    estimator.add({noisy.topRows(half), noiseless.topRows(part)});
    estimator.add(
        {noisy.bottomRows(noisy.rows() - half), noiseless.bottomRows(noiseless.rows() - part)});
}

TEST(ContributionEstimator, SolvesTheNormalEquations) {
    const ViewInnovations::Innovation responses{random_matrix(30, 6, 1), MatrixXd(0, 6)};
    const MatrixXd truth = random_matrix(6, 4, 2), noise = random_matrix(30, 4, 3);
    ContributionEstimator estimator(responses, 4);
    show(estimator, responses, truth, noise);
    const MatrixXd& r = responses.whitened;
    const MatrixXd inverse = (r.transpose() * r).inverse();
    const MatrixXd expected = inverse * r.transpose() * (r * truth + noise);
    EXPECT_LT((estimator.estimates() - expected).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((estimator.variances() - inverse.diagonal()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ContributionEstimator, TakesWhatNoNoiseCoversAsExact) {
    // Weights that grow say the same in the limit: [(R^T R + w N^T N)^-1]_uu.
    const ViewInnovations::Innovation responses{random_matrix(20, 5, 4), random_matrix(3, 5, 5)};
    const MatrixXd truth = random_matrix(5, 2, 6), noise = random_matrix(20, 2, 7);
    ContributionEstimator estimator(responses, 2);
    show(estimator, responses, truth, noise);
    constexpr double weight = 1e6;
    const MatrixXd& r = responses.whitened;
    const MatrixXd& n = responses.noiseless;
    const MatrixXd inverse = (r.transpose() * r + weight * n.transpose() * n).inverse();
    const MatrixXd expected =
        inverse * (r.transpose() * (r * truth + noise) + weight * n.transpose() * n * truth);
    EXPECT_LT((estimator.estimates() - expected).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT((estimator.variances() - inverse.diagonal()).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_LT((n * (estimator.estimates() - truth)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ContributionEstimator, TellsExactFromNoisyFromHidden) {
    // Unknown 0 is seen without noise, 1 under noise, of 2 and 3 only the sum, 4 not at all.
    ViewInnovations::Innovation responses{MatrixXd::Zero(2, 5), MatrixXd::Zero(3, 5)};
    responses.noiseless(0, 0) = 0.5;
    responses.whitened(0, 1) = 0.25;
    responses.whitened(0, 0) = 10;
    responses.whitened.row(1) << 0, 0, 2, 2, 0;
    const MatrixXd truth = random_matrix(5, 3, 8);
    ContributionEstimator estimator(responses, 3);
    show(estimator, responses, truth, MatrixXd::Zero(2, 3));
    const VectorXd& variances = estimator.variances();
    EXPECT_EQ(variances(0), 0);
    EXPECT_NEAR(variances(1), 16, 1e-12);
    for (const Index hidden : {2, 3, 4}) EXPECT_TRUE(std::isinf(variances(hidden))) << hidden;
    const MatrixXd estimates = estimator.estimates();
    EXPECT_LT((estimates.topRows(2) - truth.topRows(2)).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT(estimates.row(4).norm(), 1e-12);
}

TEST(ContributionEstimator, KnowsNothingWithoutObservations) {
    const ContributionEstimator estimator({MatrixXd(0, 2), MatrixXd(0, 2)}, 3);
    EXPECT_TRUE(estimator.variances().array().isInf().all());
    EXPECT_EQ(estimator.estimates(), MatrixXd::Zero(2, 3));
}

TEST(ContributionEstimator, RefusesMoreThanItExpects) {
    ContributionEstimator estimator({random_matrix(2, 2, 9), MatrixXd(0, 2)}, 1);
    EXPECT_THROW(estimator.add({random_matrix(3, 1, 10), MatrixXd(0, 1)}), ConfigError);
}

}  // namespace
}  // namespace sotto

namespace sotto::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// One recorded run, read in both ways.
class ContributionModesOf : public ::testing::Test {
  protected:
    ContributionModesOf() : pipeline(config()) { pipeline.record(folder.path("views")); }
    static AuditConfig config() {
        AuditConfig config = canary_config("pairs", "all-messages:1");
        config.train.plan.rounds = 6;
        return config;
    }
    ContributionModes read(bool by_round) {
        const AuditSubject& subject = pipeline.subject();
        const Index dimension = pipeline.canaries().dimension();
        RecordedInnovations recorded(
            folder.path("views"), subject.view, subject.process, dimension, "", 1);
        return read_contribution_modes(recorded, 0, 6, dimension, by_round);
    }
    TemporaryFolder folder;
    CanaryPipeline pipeline;
};

TEST_F(ContributionModesOf, AViewOfAllMessagesAreRoundsSeenAsSharplyAsTheAccountantSays) {
    const ContributionModes modes = read(true);
    EXPECT_TRUE(modes.by_round);
    const double precision =
        observed_precision(pipeline.subject().account->plan, {pipeline.subject().view.members})(0);
    for (Index t = 0; t < 6; ++t)
        EXPECT_NEAR(modes.response.coeff(t, t) * modes.response.coeff(t, t) / precision, 1, 1e-9);
    EXPECT_EQ(modes.response.nonZeros(), 6);
    EXPECT_EQ(modes.values.rows(), 6);
    EXPECT_EQ(modes.values.cols(), 401);
}

TEST_F(ContributionModesOf, TheGramMatrixTellsTheSame) {
    const ContributionModes rounds = read(true), gram = read(false);
    EXPECT_FALSE(gram.by_round);
    const MatrixXd direct(rounds.response), other(gram.response);
    EXPECT_LT((direct * direct.transpose() - other * other.transpose()).norm(),
              1e-8 * direct.squaredNorm());
    // Sufficient statistics of contributions.
    EXPECT_LT((direct * rounds.values - other * gram.values).norm(),
              1e-8 * (direct * rounds.values).norm());
}

TEST_F(ContributionModesOf, CanariesThatAreNotThereAreNoiseOfUnitVariance) {
    const ContributionModes modes = read(true);
    const Eigen::VectorXd signs = pipeline.canaries().signs();
    double squares = 0, count = 0;
    for (Index i = 0; i < signs.size(); ++i) {
        if (signs(i) > 0) continue;
        squares += modes.values.col(i).squaredNorm();
        count += 6;
    }
    EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
}

}  // namespace
}  // namespace sotto::test

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

constexpr int contributors = 4;

TEST(ContributedRows, TakePartInTheRoundsOfTheirParticipation) {
    AuditConfig config = test::audit_config("mafalda", contributors, 10);
    config.train.plan.adjacency = Adjacency::record;
    config.train.plan.participation.cycle = 4;
    config.train.plan.batch_size = 16;
    const auto network = make_memory_network(contributors, 1);
    const AuditSubject subject = build_audit_subject(config, true, *network);
    const Rows rows = public_rows(config.train.plan, *subject.account);
    EXPECT_EQ(rows.rounds, (Eigen::VectorXd(10) << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0).finished());
    EXPECT_EQ(rows.divisors, Eigen::VectorXd::Constant(contributors, 16));
    config.train.plan.adjacency = Adjacency::agent;
    EXPECT_EQ(public_rows(config.train.plan, *subject.account).divisors,
              Eigen::VectorXd::Ones(contributors));
}

TEST(ContributedRows, AreFirstRecordsNoLongerThanTheClip) {
    const TemporaryFolder folder;
    TrainConfig train;
    train.plan.clip_norm = 0.5;
    train.task.data = folder.write("rows.csv", "x,y\n0.3,0.4\n3,4\n0.1,0\n0,-2\n");
    train.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    const auto network = make_memory_network(contributors, 1);
    for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace}) {
        const Rows rows = read_rows({}, train, noise, *network);
        ASSERT_EQ(rows.values.rows(), contributors);
        ASSERT_EQ(rows.values.cols(), 2);
        EXPECT_EQ(rows.image_rows, 0);
        for (int u = 0; u < contributors; ++u) {
            const Eigen::VectorXd row = rows.values.row(u).transpose();
            const double norm = noise == StreamDistribution::laplace ? row.lpNorm<1>() : row.norm();
            EXPECT_LE(norm, 0.5 * (1 + 1e-12)) << u;
            EXPECT_GT(norm, 0.09) << u;
        }
    }
    train.task.data = folder.write("few.csv", "x,y\n1,2\n");
    EXPECT_NE(message_of<DataError>(
                  [&] { (void)read_rows({}, train, StreamDistribution::gaussian, *network); }),
              "");
}

TEST(ContributedRows, EnterAsMinusThemselvesAndNotAtAllInOtherRounds) {
    const auto network = make_memory_network(contributors, 1);
    Rows rows;
    rows.values = Eigen::MatrixXd::Random(contributors, 3);
    rows.rounds = Eigen::Vector3d(1, 0, 1);
    const LocalTask task = make_rows_task(rows, *network);
    EXPECT_TRUE(task.fixed_inputs && task.rows_are_rounds && !task.coordinates);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(3));
    for (int u = 0; u < contributors; ++u)
        for (Eigen::Index round = 0; round < 3; ++round) {
            Eigen::VectorXd gradient(3);
            task.objectives[static_cast<std::size_t>(u)]->mean_gradient(
                task.initial, {&round, 1}, gradient);
            EXPECT_EQ(gradient,
                      Eigen::VectorXd(-rows.rounds(round) * rows.values.row(u).transpose()));
        }
}

TEST(ContributedRows, OfAnotherRunAreRefused) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("rows.npy");
    const Eigen::MatrixXd values = Eigen::MatrixXd::Random(contributors, 3);
    write_npy(file, values);
    EXPECT_EQ(recorded_rows(file, contributors), values);
    expect_contains(message_of<DataError>([&] { (void)recorded_rows(file, contributors + 1); }),
                    "4 rows, there are 5 agents");
}

}  // namespace
}  // namespace sotto
