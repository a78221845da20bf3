#include "account/published_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "account/bounds/bound_fixtures.hpp"
#include "core/linear_algebra.hpp"
#include "views/gossip_bounds.hpp"

namespace sotto {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::bound_of;
using test::bounded_subject;
using test::CancellingTraining;
using test::subject_of;

TEST(PublishedBounds, SayWhoseTheyAreAndAreOfOneKind) {
    std::set<std::string> titles;
    for (const PublishedBound& bound : published_bounds().records()) {
        SCOPED_TRACE(bound.name);
        EXPECT_TRUE(bound.name.ends_with("_bound"));
        EXPECT_LE(bound.title.size(), 10U);
        EXPECT_TRUE(titles.insert(bound.title).second);
        // Of one of the five papers with its theorem, or authors and year.
        EXPECT_TRUE(std::regex_match(
            bound.source,
            std::regex(R"(\[[A-Z]\] (Theorem|Lemma|Corollary) \d+|[A-Z].* et al\. \d{4})")))
            << bound.source;
        EXPECT_GT(bound.says.size(), 20U);
        EXPECT_NE(bound.of_view == nullptr, bound.of_training == nullptr);
    }
    EXPECT_EQ(view_bounds().size() + training_bounds().size(), published_bounds().records().size());
    EXPECT_EQ(view_bounds().front()->name, "muffliato_bound");
    EXPECT_EQ(training_bounds().front()->name, "disagreement_bound");
}

TEST(BoundsOfTraining, AreThoseThatApply) {
    test::CancellingTraining training("homomorphic");
    EXPECT_EQ(bounds_of_training(training.input()).size(), 1U);
    training.smoothness = 1;
    const auto figures = bounds_of_training(training.input());
    ASSERT_EQ(figures.size(), 3U);
    for (const TrainingBoundFigure& figure : figures)
        EXPECT_EQ(figure.value, figure.bound->of_training(training.input()).value());
    EXPECT_TRUE(bounds_of_training(test::CancellingTraining("pairs").input()).empty());
}

TEST(CancellingNoise, OfThePapersOwnNoiseIsWhatThePaperWrites) {
    const CancellingTraining training("homomorphic");
    const auto terms = cancelling_noise(training.input(3));
    ASSERT_TRUE(terms);
    EXPECT_EQ(terms->step, 0.2);
    EXPECT_EQ(terms->gradient_norm, 0.5);
    const Eigen::MatrixXd mixing = training.topography.mixing.dense();
    const Eigen::VectorXd eigenvalues = symmetric_eigenvalues(mixing);
    EXPECT_NEAR(terms->second_eigenvalue,
                std::max(eigenvalues(eigenvalues.size() - 2), -eigenvalues(0)),
                1e-9);
    // a = max_k (1 - a_kk) + (1 - a_kk)^2 / a_kk^2 (eq. 29); 2 b^2 a of each of three coordinates.
    double scale = 0, a = 0;
    for (const NoiseRow& row : training.plan.rows)
        if (row.sender != row.receiver) scale = training.plan.scale * row.coefficients[0];
    for (int k = 0; k < 8; ++k) {
        const double away = 1 - mixing(k, k);
        a = std::max(a, away + away * away / (mixing(k, k) * mixing(k, k)));
    }
    EXPECT_NEAR(terms->noise, 3 * 2 * scale * scale * a, 1e-9 * terms->noise);
}

TEST(CancellingNoise, IsOfPlansThatTheAssumptionsHoldOf) {
    EXPECT_TRUE(cancelling_noise(CancellingTraining("zip-dl").input()));
    EXPECT_FALSE(cancelling_noise(CancellingTraining("laplace").input())) << "does not cancel";
    EXPECT_FALSE(cancelling_noise(CancellingTraining("ldp").input())) << "is on gradients";
    EXPECT_FALSE(cancelling_noise(CancellingTraining("none").input()));
    EXPECT_FALSE(cancelling_noise(CancellingTraining("zip-dl", "row-stochastic").input()))
        << "weights are not symmetric";
    CancellingTraining training("homomorphic");
    training.config.steps.kind = StepSchedule::Kind::inverse;
    EXPECT_FALSE(cancelling_noise(training.input())) << "the step falls";
    training = CancellingTraining("homomorphic");
    training.topography.later_mixing.push_back(training.topography.mixing);
    EXPECT_FALSE(cancelling_noise(training.input())) << "weights change";
    training = CancellingTraining("homomorphic");
    training.plan.rows[0].coefficients[0] *= 1.01;
    EXPECT_FALSE(cancelling_noise(training.input())) << "no longer cancels";
}

TEST(DescentBound, IsWhatTheorem2AddsBesideDescent) {
    CancellingTraining training("homomorphic");
    EXPECT_FALSE(descent_record().of_training(training.input())) << "needs the smoothness";
    training.smoothness = 1.5;
    const CancellingNoise terms = cancelling_noise(training.input()).value();
    // mu/2 (1 + 2 delta mu) b^2 2 delta^2 a / (1 - lambda_2) + mu^2 2 delta G^2 (eq. 30)
    const double noise = 0.1 * 1.6 * terms.noise * 2.25 / (1 - terms.second_eigenvalue);
    EXPECT_NEAR(descent_record().of_training(training.input()).value(),
                noise + 0.04 * 3 * 0.25,
                1e-12 * noise);
}

TEST(DescentBound, IsNeverBelowWhatNoiseAddsToQuadraticLosses) {
    // Loss of agent k: curvature_k / 2 |w|^2, so that models' second moments are known in every
    // round. Noise leaves the mean model alone but for gradients at models that it moved.
    CancellingTraining training("homomorphic");
    constexpr double step = 0.2, smooth = 1.5;
    training.smoothness = smooth;
    const double added = descent_record().of_training(training.input(1)).value();
    Eigen::VectorXd curvature(8);
    for (int k = 0; k < 8; ++k) curvature(k) = smooth * (k % 2 == 0 ? 1.0 : 0.1 * k);
    const Eigen::MatrixXd mixing = training.topography.mixing.dense();
    const Eigen::MatrixXd off = mixing - Eigen::MatrixXd::Identity(8, 8);
    double scale = 0;
    for (const NoiseRow& row : training.plan.rows)
        if (row.sender != row.receiver) scale = training.plan.scale * row.coefficients[0];
    const Eigen::MatrixXd noise = 2 * scale * scale * off * off.transpose();
    const Eigen::MatrixXd moves =
        mixing * (Eigen::VectorXd::Ones(8) - step * curvature).asDiagonal();
    const double mean_curvature = curvature.mean();
    Eigen::MatrixXd moments = Eigen::MatrixXd::Constant(8, 8, 0.5);
    for (int round = 0; round < 100; ++round) {
        const double before = moments.sum() / 64;
        moments = moves * moments * moves.transpose() + noise;
        const double after = moments.sum() / 64;
        EXPECT_LE(
            0.5 * mean_curvature * after,
            0.5 * mean_curvature * before -
                0.5 * step * (1 - 2 * step * smooth) * mean_curvature * mean_curvature * before +
                added)
            << round;
    }
}

/// Covariance over agents of what a round's noise adds to one coordinate of their models.
MatrixXd noise_of_a_round(const CancellingTraining& training) {
    const NoisePlan& plan = training.plan;
    MatrixXd coefficients = MatrixXd::Zero(8, std::ssize(plan.streams));
    for (const NoiseRow& row : plan.rows)
        for (std::size_t j = 0; j < row.streams.size(); ++j)
            coefficients(row.receiver, row.streams[j]) +=
                training.topography.mixing.weight(row.receiver, row.sender) * plan.scale *
                row.coefficients[j] *
                std::sqrt(unit_variance(
                    plan.streams[static_cast<std::size_t>(row.streams[j])].distribution));
    return coefficients * coefficients.transpose();
}

double disagreement(const MatrixXd& second_moment) {
    const MatrixXd off_mean = MatrixXd::Identity(8, 8) - MatrixXd::Constant(8, 8, 1.0 / 8);
    return (off_mean * second_moment).trace() / 8;
}

TEST(DisagreementBound, IsNeverBelowWhatNoiseAndTheWorstGradientsDo) {
    constexpr long dimension = 3;
    for (const std::string mechanism : {"homomorphic", "zip-dl"}) {
        const CancellingTraining training(mechanism);
        const MatrixXd mixing = training.topography.mixing.dense();
        const double bound = disagreement_record().of_training(training.input(dimension)).value();
        const MatrixXd noise = noise_of_a_round(training);
        EXPECT_LE(noise.rowwise().sum().cwiseAbs().maxCoeff(), 1e-9 * noise.trace())
            << "leaves the mean alone";
        // Gradients of length G along the eigenvector that mixing shortens least.
        const SymmetricEigen eigen = symmetric_eigen(mixing);
        const VectorXd worst =
            eigen.vectors.col(6) * 0.5 / eigen.vectors.col(6).cwiseAbs().maxCoeff();
        MatrixXd covariance = MatrixXd::Zero(8, 8);
        VectorXd models = VectorXd::Zero(8);
        double largest = 0;
        for (int round = 0; round < 200; ++round) {
            covariance = mixing * covariance * mixing.transpose() + noise;
            models = mixing * (models - 0.2 * worst);
            largest = std::max(
                largest,
                dimension * disagreement(covariance) + disagreement(models * models.transpose()));
        }
        EXPECT_GE(bound, largest) << mechanism;
    }
}

TEST(DisagreementBound, IsThatOfLemma3) {
    const CancellingTraining training("homomorphic");
    const CancellingNoise terms = cancelling_noise(training.input(5)).value();
    const double left = 1 - terms.second_eigenvalue;
    EXPECT_NEAR(disagreement_record().of_training(training.input(5)).value(),
                0.04 * std::pow(terms.second_eigenvalue / left, 2) * 0.25 + terms.noise / left,
                1e-12 * terms.noise / left);
    EXPECT_FALSE(disagreement_record().of_training(CancellingTraining("ldp").input()));
}

std::optional<double> variance_of(const SubjectConfig& config) {
    return equal_noise_variance(config.plan, subject_of(config)->plan);
}

TEST(EqualNoise, IsThatOfAPlanOfPrivateNoise) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 3;
    ASSERT_TRUE(variance_of(config));
    EXPECT_NEAR(*variance_of(config), 9, 1e-9);
}

TEST(EqualNoise, IsNotSharedNorOnMessagesNorOverRoundsNorSampled) {
    for (const char* mechanism : {"decor", "anti-pgd", "zip-dl", "laplace", "cdp"}) {
        SubjectConfig config = bounded_subject(mechanism);
        if (std::string(mechanism) == "laplace") {
            config.plan.noise_std.reset();
            config.plan.epsilon = 4;
        }
        // On a ring all agents of zip-dl have the same noise.
        config.graph.topology.topology = Topology::ring;
        config.plan.adjacency = Adjacency::agent;
        config.plan.participation = {};
        EXPECT_FALSE(variance_of(config)) << mechanism;
    }
    SubjectConfig config = bounded_subject("ldp");
    const auto subject = subject_of(config);
    NoisePlan uneven = subject->plan;
    uneven.rows[2].coefficients[0] *= 1.5;
    EXPECT_FALSE(equal_noise_variance(config.plan, uneven));
    config.plan.participation.cycle = 2;
    EXPECT_FALSE(equal_noise_variance(config.plan, subject->plan));
    config.plan.participation = {1, true};
    EXPECT_FALSE(equal_noise_variance(config.plan, subject->plan));
}

TEST(GossipBoundsOf, AreLeftUndoneWhereTheyTakeLong) {
    const SubjectConfig config = bounded_subject("ldp");
    const auto subject = subject_of(config);
    const std::vector<int> targets{1, 4};
    const View view{View::Kind::neighbours, {0}};
    const auto found = [&](double observers) {
        return gossip_bounds_of(GossipTheorem::messages,
                                View::Kind::neighbours,
                                {config.plan, *subject, observers},
                                view,
                                targets);
    };
    ASSERT_TRUE(found(1));
    EXPECT_EQ(found(1)->size(), 2);
    EXPECT_FALSE(found(1e12));
}

TEST(GossipMessagesBound, IsTheOneOfTheTheoremAtTheNoiseOfThePlan) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 2;
    const auto subject = test::subject_of(config);
    for (const std::vector<int>& observers : {std::vector<int>{3}, std::vector<int>{0, 3}}) {
        const auto found =
            bound_of(gossip_messages_record(), config, {View::Kind::neighbours, observers});
        ASSERT_TRUE(found);
        for (const auto& [i, target] : {std::pair{0, 1}, std::pair{1, 4}})
            EXPECT_NEAR(
                (*found)(i),
                gossip_bound(GossipTheorem::messages, subject->process, observers, target) / 4,
                1e-12);
    }
}

TEST(GossipMessagesBound, IsOfNoOtherViewAndNoOtherNoise) {
    const PublishedBound bound = gossip_messages_record();
    const SubjectConfig config = bounded_subject("ldp");
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::secure_sum, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {}}));
    EXPECT_FALSE(bound_of(bound, bounded_subject("decor"), {View::Kind::neighbours, {3}}));
}

TEST(GossipSumsBound, IsTheOneOfTheTheoremAtTheNoiseOfThePlan) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 2;
    const auto subject = test::subject_of(config);
    for (const std::vector<int>& observers : {std::vector<int>{3}, std::vector<int>{0, 3}}) {
        const auto found =
            bound_of(gossip_sums_record(), config, {View::Kind::secure_sum, observers});
        ASSERT_TRUE(found);
        for (const auto& [i, target] : {std::pair{0, 1}, std::pair{1, 4}})
            EXPECT_NEAR((*found)(i),
                        gossip_bound(GossipTheorem::sums, subject->process, observers, target) / 4,
                        1e-12);
    }
}

TEST(GossipSumsBound, IsOfNoOtherViewAndNoOtherNoise) {
    const PublishedBound bound = gossip_sums_record();
    const SubjectConfig config = bounded_subject("ldp");
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::neighbours, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {}}));
    EXPECT_FALSE(bound_of(bound, bounded_subject("decor"), {View::Kind::secure_sum, {3}}));
}

const View node{View::Kind::neighbours, {3}};

TEST(MuffliatoRecord, IsThePublishedBoundAtTheNoiseOfThePlan) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 2;
    const auto subject = test::subject_of(config);
    const Topography& topography = subject->built.topography;
    const Eigen::VectorXd bound = muffliato_bound(topography.graph, topography.mixing, 3, 6);
    const auto found = bound_of(muffliato_record(), config, node);
    ASSERT_TRUE(found);
    EXPECT_NEAR((*found)(0), bound(1) / 4, 1e-9);
    EXPECT_NEAR((*found)(1), bound(4) / 4, 1e-9);
}

TEST(MuffliatoRecord, IsOfSingleNodes) {
    const SubjectConfig config = bounded_subject("ldp");
    const PublishedBound bound = muffliato_record();
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::neighbours, {0, 3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::secure_sum, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {3}}));
}

TEST(MuffliatoRecord, IsOfIndependentNoiseInEqualRounds) {
    const auto applies = [&](const std::string& mechanism, auto&& change) {
        SubjectConfig config = bounded_subject(mechanism);
        change(config);
        return bound_of(muffliato_record(), config, node).has_value();
    };
    EXPECT_TRUE(applies("ldp", [](SubjectConfig&) {}));
    EXPECT_FALSE(applies("decor", [](SubjectConfig&) {}));
    EXPECT_FALSE(applies("anti-pgd", [](SubjectConfig& c) {
        c.plan.adjacency = Adjacency::agent;
        c.plan.participation = {};
    }));
    EXPECT_FALSE(applies("ldp", [](SubjectConfig& c) { c.departures = "3:1"; }));
    EXPECT_FALSE(applies(
        "ldp", [](SubjectConfig& c) { c.plan.steps.kind = StepSchedule::Kind::inverse_sqrt; }));
    EXPECT_FALSE(applies("muffliato", [](SubjectConfig& c) { c.plan.gossip_steps = 2; }));
}

TEST(StationarityBound, IsWhereTheDescentOfTheorem2StopsHelping) {
    CancellingTraining training("zip-dl");
    training.smoothness = 0.8;
    const double floor = stationarity_record().of_training(training.input()).value();
    const double added = descent_record().of_training(training.input()).value();
    // A round descends by mu/2 (1 - 2 mu delta) |gradient|^2 and adds `added`.
    EXPECT_NEAR(0.1 * (1 - 2 * 0.2 * 0.8) * floor, added, 1e-12 * added);
}

TEST(StationarityBound, NeedsASmoothnessAndAStepThatDescends) {
    CancellingTraining training("homomorphic");
    EXPECT_FALSE(stationarity_record().of_training(training.input()));
    training.smoothness = 2.4;
    EXPECT_TRUE(stationarity_record().of_training(training.input()));
    training.smoothness = 2.6;
    EXPECT_FALSE(stationarity_record().of_training(training.input()));
}

}  // namespace
}  // namespace sotto
