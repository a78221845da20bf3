#include "design/temporal_utility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "design/noise_fixtures.hpp"
#include "design/temporal_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/design/design.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> ones(Index rounds) {
    return std::vector<double>(static_cast<std::size_t>(rounds), 1.0);
}

/// H and M by the sums of their definition.
struct Direct {
    MatrixXd temporal, spatial;
};
Direct direct(const MatrixXd& w,
              const MatrixXd& r,
              const MatrixXd& inverse_gram,
              std::span<const double> steps) {
    const auto rounds = static_cast<Index>(steps.size());
    const Index n = w.rows();
    std::vector<MatrixXd> powers{MatrixXd::Identity(n, n)};
    for (Index k = 1; k <= rounds; ++k) powers.push_back(w * powers.back());
    Direct result{MatrixXd::Zero(rounds, rounds), MatrixXd::Zero(n, n)};
    for (Index s = 0; s < rounds; ++s)
        for (Index t = 0; t < rounds; ++t)
            for (Index tau = std::max(s, t); tau < rounds; ++tau) {
                const MatrixXd term = steps[static_cast<std::size_t>(s)] *
                                      steps[static_cast<std::size_t>(t)] *
                                      powers[static_cast<std::size_t>(tau - t + 1)].transpose() *
                                      powers[static_cast<std::size_t>(tau - s + 1)];
                result.temporal(s, t) += (term * r).trace();
                result.spatial += inverse_gram(s, t) * term;
            }
    return result;
}

TEST(TemporalUtility, IsTheSumOverAllModelsForSymmetricAndOtherMixingAnyStepsAndGossip) {
    for (const auto& [name, graph] : test::sample_graphs({6}))
        for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic})
            for (const int gossip : {1, 3}) {
                const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
                const Index n = graph.agents();
                const MatrixXd r = test::random_positive_definite(n, 3);
                const std::vector<double> steps{1, 0.5, 2, 0.25, 1.5, 3, 0.1};
                const MatrixXd inverse_gram = test::random_positive_definite(7, 4);
                MatrixXd w = mixing.dense();
                for (int k = 1; k < gossip; ++k) w = (w * mixing.dense()).eval();
                const Direct expected = direct(w, r, inverse_gram, steps);
                const MatrixXd temporal = temporal_utility(mixing, r, steps, gossip);
                const MatrixXd spatial = spatial_utility(mixing, inverse_gram, steps, gossip);
                EXPECT_LT((temporal - expected.temporal).norm(), 1e-11 * expected.temporal.norm())
                    << name;
                EXPECT_LT((spatial - expected.spatial).norm(), 1e-11 * expected.spatial.norm())
                    << name;
                // The same objective from both sides.
                EXPECT_NEAR((temporal * inverse_gram).trace(),
                            (spatial * r).trace(),
                            1e-11 * (spatial * r).trace())
                    << name;
            }
}

TEST(TemporalUtility, WithIndependentRoundsIsTheTrajectoryUtility) {
    const Graph graph = test::sample_graphs({12}).back().graph;
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const MatrixXd m = spatial_utility(mixing, MatrixXd::Identity(12, 12), ones(12));
    const MatrixXd expected = utility_matrix(mixing, {Utility::Kind::trajectory, 0}, 12);
    EXPECT_LT((m - expected).norm(), 1e-11 * expected.norm());
}

TEST(SpatialUtility, RefusesADenseFactorOfTooManyRounds) {
    const Graph graph = test::make_graph(Topology::ring, 4);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    const TemporalFactor dense{TemporalFactor::Kind::dense, {}};
    EXPECT_TRUE(test::contains(test::message_of<ConfigError>([&] {
                                   (void)spatial_utility(
                                       mixing, dense, ones(most_dense_rounds + 1));
                               }),
                               "rounds: 2001"));
}

TEST(JointUtility, OfAProductOfTimeAndSpaceIsTheObjectiveOfBoth) {
    const std::vector<double> steps{1, 0.5, 2, 0.25};
    const MatrixXd inverse_gram = test::random_positive_definite(4, 4);
    for (const auto& [name, graph] : test::sample_graphs({5}))
        for (const MixingRule rule : {MixingRule::metropolis, MixingRule::row_stochastic}) {
            const MixingMatrix mixing = MixingMatrix::from_rule(graph, rule);
            const MatrixXd r = test::random_positive_definite(5, 3);
            const MatrixXd joint = joint_utility(mixing, steps, 2);
            MatrixXd product(20, 20);
            for (Index s = 0; s < 4; ++s)
                for (Index t = 0; t < 4; ++t)
                    product.block(5 * s, 5 * t, 5, 5) = inverse_gram(s, t) * r;
            const double expected =
                temporal_utility(mixing, r, steps, 2).cwiseProduct(inverse_gram).sum();
            EXPECT_NEAR(joint.cwiseProduct(product).sum(), expected, 1e-11 * expected) << name;
            EXPECT_LT((joint - joint.transpose()).norm(), 1e-12 * joint.norm()) << name;
        }
}

TEST(JointUtility, IsWhatNoiseOfAnyRoundsAndAgentsLeavesInAllModels) {
    const Graph graph = test::make_graph(Topology::path, 3);
    const MatrixXd w = MixingMatrix::from_rule(graph, MixingRule::row_stochastic).dense();
    const VectorXd noise = VectorXd::LinSpaced(12, -1, 2);
    double left = 0;
    VectorXd models = VectorXd::Zero(3);
    for (Index t = 0; t < 4; ++t) {
        models = w * (models + noise.segment(3 * t, 3));
        left += models.squaredNorm();
    }
    const MatrixXd joint =
        joint_utility(MixingMatrix::from_rule(graph, MixingRule::row_stochastic), ones(4));
    EXPECT_NEAR(noise.dot(joint * noise), left, 1e-12 * left);
}

TEST(JointUtility, RefusesTooManyRows) {
    const Graph graph = test::make_graph(Topology::ring, 5);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    EXPECT_EQ(joint_utility(mixing, ones(80)).rows(), most_joint_rows);
    EXPECT_TRUE(test::contains(
        test::message_of<ConfigError>([&] { (void)joint_utility(mixing, ones(81)); }),
        "agents * rounds up to 400"));
}

/// What agents end up with after `rounds` rounds of u <- B u + z, x <- p (x + u), where z is 1 in
/// one round: the training itself, round by round, with the corrections of their papers (D^2 and
/// adapt-then-combine tracking).
double end_of_training(const Smoothing& smoothing, double p, long rounds, long noisy) {
    double model = 0, velocity = 0, exponential = 0, tail = 0;
    double model_before = 0, velocity_before = 0, y = 0;
    for (long t = 0; t < rounds; ++t) {
        velocity_before = velocity;
        velocity = smoothing.momentum * velocity + (t == noisy ? 1 : 0);
        if (smoothing.correction == Correction::tracking) {
            y = p * (y + velocity - velocity_before);
            model = p * (model + y);
        } else if (smoothing.correction == Correction::exact_diffusion && t > 0) {
            const double next = p * (2 * model - model_before + velocity - velocity_before);
            model_before = std::exchange(model, next);
        } else {
            model = p * (model + velocity);
        }
        exponential = smoothing.decay * exponential + (1 - smoothing.decay) * model;
        if (t >= rounds - smoothing.tail_rounds)
            tail += model / static_cast<double>(smoothing.tail_rounds);
    }
    return smoothing.decay > 0 ? exponential : tail;
}

TEST(ImpulseResponse, IsThatOfTheTraining) {
    constexpr long rounds = 23;
    std::vector<Smoothing> all(11);
    all[1].momentum = 0.8;
    all[2].tail_rounds = 6;
    all[3].decay = 0.7;
    all[4].momentum = 0.5;
    all[4].tail_rounds = rounds;
    for (std::size_t i = 5; i < 11; ++i)
        all[i].correction = i % 2 == 0 ? Correction::exact_diffusion : Correction::tracking;
    for (const std::size_t i : {7U, 8U}) all[i].momentum = 0.6;
    for (const std::size_t i : {9U, 10U}) all[i].tail_rounds = 5;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const double p : {-0.6, 0.0, 0.4, 1.0}) {
            ImpulseResponse<double> response(all[i], p, 1.0);
            for (long age = 1; age <= rounds; ++age) {
                const double expected = end_of_training(all[i], p, rounds, rounds - age);
                // Exact diffusion diverges below p = -1/3.
                EXPECT_NEAR(response.next(), expected, 1e-13 * std::max(1.0, std::abs(expected)))
                    << i << ", p " << p << ", age " << age;
            }
        }
}

TEST(ModelResponse, OfCorrectionsHasItsClosedForms) {
    for (const double w : {0.02, 0.3, 0.7, 0.97}) {
        Smoothing exact, tracking;
        exact.correction = Correction::exact_diffusion;
        tracking.correction = Correction::tracking;
        const double one = 1;
        ModelResponse<double> of_exact(exact, w, one), of_tracking(tracking, w, one);
        const double angle = std::acos(std::sqrt(w));
        double exact_sum = 0, tracking_sum = 0;
        for (int k = 1; k <= 3000; ++k) {
            of_exact.next();
            of_tracking.next();
            if (k < 30) {
                // w^(k/2) T_k(w^(1/2)) and w (w^k - (k - 1)(1 - w) w^(k-1)).
                EXPECT_NEAR(of_exact.model(), std::pow(w, k / 2.0) * std::cos(k * angle), 1e-13);
                EXPECT_NEAR(of_tracking.model(),
                            w * (std::pow(w, k) - (k - 1) * (1 - w) * std::pow(w, k - 1)),
                            1e-13);
            }
            exact_sum += of_exact.model() * of_exact.model();
            tracking_sum += of_tracking.model() * of_tracking.model();
        }
        const double sum_of_exact = 2 * w * w / ((1 - w) * (1 + 3 * w));
        const double sum_of_tracking = 2 * std::pow(w, 4) / ((1 - w) * std::pow(1 + w, 3));
        EXPECT_NEAR(exact_sum, sum_of_exact, 1e-10 * sum_of_exact) << w;
        EXPECT_NEAR(tracking_sum, sum_of_tracking, 1e-10 * sum_of_tracking) << w;
    }
}

TEST(ImpulseResponse, OfAMatrixIsThatOfItsEigenvalues) {
    for (const Correction correction :
         {Correction::none, Correction::exact_diffusion, Correction::tracking}) {
        Smoothing smoothing;
        smoothing.correction = correction;
        smoothing.momentum = 0.9;
        smoothing.tail_rounds = 3;
        Eigen::Matrix2d mixing;
        mixing << 0.75, 0.25, 0.25, 0.75;  // eigenvalues 1 and 0.5
        ImpulseResponse<Eigen::MatrixXd> whole(smoothing, mixing, Eigen::MatrixXd::Identity(2, 2));
        ImpulseResponse<double> mean(smoothing, 1.0, 1.0), difference(smoothing, 0.5, 1.0);
        for (int age = 1; age < 9; ++age) {
            const Eigen::MatrixXd found = whole.next();
            EXPECT_NEAR(found(0, 0) + found(0, 1), mean.next(), 1e-13) << age;
            EXPECT_NEAR(found(0, 0) - found(0, 1), difference.next(), 1e-13) << age;
        }
    }
}

using namespace test;

TEST(ModeGains, AreTheUtilityOfTheFactorRoundByRound) {
    const MixingMatrix mixing = mixing_of(MixingRule::metropolis);
    const auto steps = falling_steps(15);
    SeededRandom random(3, "factor");
    MatrixXd band(15, 4), lagged(15, 2);
    for (Index t = 0; t < 15; ++t) {
        band.row(t) << 1 + random.uniform(), random.normal(), random.normal(), random.normal();
        lagged.row(t) << 1 + random.uniform(), random.normal();
    }
    for (const TemporalFactor& factor : {TemporalFactor{},
                                         TemporalFactor{TemporalFactor::Kind::banded, band},
                                         TemporalFactor{TemporalFactor::Kind::one_lag, lagged}})
        for (const int gossip : {1, 2}) {
            const MatrixXd inverse = factor.kind == TemporalFactor::Kind::identity
                                         ? MatrixXd(MatrixXd::Identity(15, 15))
                                         : MatrixXd(dense_factor(factor, 15).inverse());
            const MatrixXd wanted =
                spatial_utility(mixing, inverse * inverse.transpose(), steps, gossip);
            const MatrixXd found = spatial_utility(mixing, factor, steps, gossip);
            EXPECT_LT((found - wanted).norm(), 1e-11 * wanted.norm());
        }
}

TEST(ModeGains, AreTheVariancesOfTheRecursionWrittenOut) {
    // y(t) = sum_s lambda^(t-s+1) eta_s v(s), v = C_time^-1 z with independent z.
    constexpr Index rounds = 11;
    const auto steps = falling_steps(rounds);
    SeededRandom random(5, "factor");
    MatrixXd band(rounds, 3), lagged(rounds, 2);
    for (Index t = 0; t < rounds; ++t) {
        band.row(t) << 1 + random.uniform(), random.normal(), random.normal();
        lagged.row(t) << 1 + random.uniform(), random.normal();
    }
    const VectorXd values = (VectorXd(4) << 1, 0.6, 0, -0.4).finished();
    for (const TemporalFactor& factor : {TemporalFactor{},
                                         TemporalFactor{TemporalFactor::Kind::banded, band},
                                         TemporalFactor{TemporalFactor::Kind::one_lag, lagged}}) {
        const MatrixXd inverse = factor.kind == TemporalFactor::Kind::identity
                                     ? MatrixXd(MatrixXd::Identity(rounds, rounds))
                                     : MatrixXd(dense_factor(factor, rounds).inverse());
        const VectorXd found = mode_gains(lagged_noise(factor, rounds, 3), values, steps);
        for (Index i = 0; i < values.size(); ++i) {
            double expected = 0;
            VectorXd state = VectorXd::Zero(rounds);  // coefficients of z
            for (Index t = 0; t < rounds; ++t) {
                state = values(i) *
                        (state + steps[static_cast<std::size_t>(t)] * inverse.row(t).transpose());
                expected += state.squaredNorm();
            }
            EXPECT_NEAR(found(i), expected, 1e-11 * (1 + expected)) << "mode " << i;
        }
    }
}

}  // namespace
}  // namespace sotto
