#include "sotto/graph/gossip.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "graph/spectrum.hpp"
#include "graph_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::make;

/// T_K(x / lambda) / T_K(1 / lambda), by cosines and their hyperbolic kin.
double chebyshev(int degree, double x, double lambda) {
    const auto t = [degree](double y) {
        const double sign = y < -1 && degree % 2 == 1 ? -1 : 1;
        return std::abs(y) <= 1 ? std::cos(degree * std::acos(y))
                                : sign * std::cosh(degree * std::acosh(std::abs(y)));
    };
    return t(x / lambda) / t(1 / lambda);
}

TEST(GossipPolynomial, OfChebyshevWeightsIsTheScaledChebyshevPolynomial) {
    for (const double lambda : {0.05, 0.5, 0.9, 0.999})
        for (const int steps : {2, 3, 4, 9, 40})
            for (const double x : {-1.0, -lambda, -0.3, 0.0, 0.2, lambda, 1.0}) {
                const double expected = chebyshev(steps, x, lambda);
                EXPECT_NEAR(GossipPolynomial::chebyshev(steps, lambda).at(x),
                            expected,
                            1e-11 * std::max(1.0, std::abs(expected)))
                    << lambda << ", K " << steps << ", " << x;
            }
}

TEST(GossipPolynomial, OfPlainStepsIsAPower) {
    for (const int steps : {0, 1, 2, 7}) {
        EXPECT_NEAR(GossipPolynomial(steps).at(0.7), std::pow(0.7, steps), 1e-15);
        EXPECT_TRUE(GossipPolynomial(steps).plain());
    }
    EXPECT_TRUE(GossipPolynomial::chebyshev(1, 0.5).plain());
    EXPECT_TRUE(GossipPolynomial::chebyshev(4, 0).plain()) << "one step is exact consensus";
}

TEST(GossipPolynomial, WeightsSumToOneSoThatTheMeanStays) {
    const GossipPolynomial gossip = GossipPolynomial::chebyshev(30, 0.97);
    for (int k = 0; k < gossip.steps(); ++k)
        EXPECT_NEAR(gossip.here(k) - gossip.before(k), 1, 1e-12) << k;
}

TEST(GossipPolynomial, OfAMatrixHasItsEigenvalues) {
    for (const auto& [name, graph] : test::sample_graphs({2, 8})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        const Eigen::MatrixXd dense = mixing.dense();
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(dense);
        for (const GossipRule rule : {GossipRule::plain, GossipRule::chebyshev}) {
            const GossipPolynomial gossip = gossip_polynomial(mixing, rule, 5);
            const Eigen::VectorXd values =
                eigen.eigenvalues().unaryExpr([&](double x) { return gossip.at(x); });
            const Eigen::MatrixXd expected =
                eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
            const auto n = dense.rows();
            EXPECT_LT((gossip.of(dense) - expected).norm(), 1e-11) << name;
            EXPECT_LT((gossip.times(mixing, Eigen::MatrixXd::Identity(n, n)) - expected).norm(),
                      1e-11)
                << name;
        }
    }
}

TEST(GossipPolynomial, MayBeACombinationOfItsMessages) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make(Topology::path, 7), MixingRule::metropolis);
    const Eigen::MatrixXd dense = mixing.dense();
    const auto n = dense.rows();
    const GossipPolynomial base = GossipPolynomial::chebyshev(2, 0.9);
    const GossipPolynomial gossip = GossipPolynomial::combined(base, {0.5, -0.75, 1.25});
    const auto expected = [&](double x) { return 0.5 - 0.75 * x + 1.25 * base.at(x); };
    for (const double x : {-0.9, 0.0, 0.4, 1.0}) EXPECT_NEAR(gossip.at(x), expected(x), 1e-14);
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
    const Eigen::MatrixXd whole = 0.5 * identity - 0.75 * dense + 1.25 * base.of(dense);
    EXPECT_LT((gossip.of(dense) - whole).norm(), 1e-13);
    EXPECT_LT((gossip.times(mixing, identity) - whole).norm(), 1e-13);
    EXPECT_TRUE(gossip.combines());
    EXPECT_FALSE(gossip.plain());
    EXPECT_FALSE(base.combines());
    EXPECT_EQ(base.share(2), 1);
    EXPECT_EQ(base.share(1), 0);
    const GossipPolynomial lazy = GossipPolynomial::combined(1, {0.25, 0.75});
    EXPECT_FALSE(lazy.plain());
    EXPECT_EQ(lazy.here(0), 1);
    EXPECT_NEAR(lazy.at(-1.0), -0.5, 1e-15);
    EXPECT_THROW((void)GossipPolynomial::combined(2, {0.5, 0.5}), ConfigError);
    EXPECT_THROW((void)GossipPolynomial::combined(1, {0.5, 0.6}), ConfigError);
}

TEST(GossipPolynomial, ComesNearerToTheMeanThanPlainSteps) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make(Topology::ring, 64), MixingRule::metropolis);
    const double lambda = second_eigenvalue_modulus(mixing);
    const GossipPolynomial gossip = gossip_polynomial(mixing, GossipRule::chebyshev, 40);
    double largest = 0;
    for (double x = -lambda; x <= lambda; x += lambda / 500)
        largest = std::max(largest, std::abs(gossip.at(x)));
    EXPECT_LT(largest, 0.11);
    EXPECT_GT(std::pow(lambda, 40), 0.85);
}

TEST(GossipPolynomial, DerivativesFollowFromATinyImaginaryPart) {
    const GossipPolynomial gossip = GossipPolynomial::chebyshev(6, 0.8);
    for (const double x : {-0.7, 0.1, 0.79, 1.0}) {
        const double slope = gossip.at(std::complex<double>(x, 1e-100)).imag() / 1e-100;
        const double difference = (gossip.at(x + 1e-6) - gossip.at(x - 1e-6)) / 2e-6;
        EXPECT_NEAR(slope, difference, 1e-7 * std::max(1.0, std::abs(difference))) << x;
    }
}

TEST(GossipPolynomial, RefusesWhatItCannotWeigh) {
    EXPECT_THROW((void)GossipPolynomial(-1), ConfigError);
    EXPECT_THROW((void)GossipPolynomial::chebyshev(2, 1), ConfigError);
    EXPECT_THROW((void)GossipPolynomial::chebyshev(2, std::nan("")), ConfigError);
    const MixingMatrix uneven =
        MixingMatrix::from_rule(make(Topology::star, 4), MixingRule::row_stochastic);
    EXPECT_THROW((void)gossip_polynomial(uneven, GossipRule::chebyshev, 3), ConfigError);
    EXPECT_EQ(gossip_polynomial(uneven, GossipRule::plain, 3).steps(), 3);
    EXPECT_THROW((void)parse_gossip_rule("gossip", "chebychev"), ConfigError);
}

TEST(GossipPolynomial, OfALazyRoundIsPartlyTheOwnMessage) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make(Topology::path, 7), MixingRule::metropolis);
    const Eigen::MatrixXd own = Eigen::MatrixXd::Identity(7, 7);
    for (const GossipRule rule : {GossipRule::plain, GossipRule::chebyshev})
        for (const int steps : {1, 2, 5}) {
            const GossipPolynomial gossip = gossip_polynomial(mixing, rule, steps);
            const GossipPolynomial lazy = gossip.with_laziness(0.3);
            EXPECT_EQ(lazy.laziness(), 0.3);
            EXPECT_EQ(lazy.steps(), steps);
            EXPECT_NEAR(lazy.at(-0.4), 0.7 * gossip.at(-0.4) + 0.3, 1e-15);
            EXPECT_NEAR(lazy.at(std::complex<double>(0.2, 1e-100)).imag() / 1e-100,
                        0.7 * gossip.at(std::complex<double>(0.2, 1e-100)).imag() / 1e-100,
                        1e-12);
            const Eigen::MatrixXd expected = 0.7 * gossip.of(mixing.dense()) + 0.3 * own;
            EXPECT_LE((lazy.of(mixing.dense()) - expected).norm(), 1e-14);
            EXPECT_LE((lazy.times(mixing, own) - expected).norm(), 1e-14);
        }
    for (const double bad : {-0.1, 1.0, std::nan("")})
        EXPECT_THROW((void)GossipPolynomial(1).with_laziness(bad), ConfigError);
}

TEST(LazinessFor, LiftsTheSmallestEigenvalueToWhatIsStable) {
    for (const auto& [name, graph] : test::sample_graphs({2, 8, 21}))
        for (const GossipRule rule : {GossipRule::plain, GossipRule::chebyshev})
            for (const int steps : {1, 2, 3, 4}) {
                const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
                const GossipPolynomial gossip = gossip_polynomial(mixing, rule, steps);
                const double laziness = laziness_for(mixing, gossip);
                const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> before(
                    gossip.of(mixing.dense()));
                const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(
                    gossip.with_laziness(laziness).of(mixing.dense()));
                const double least = eigen.eigenvalues()(0);
                EXPECT_GE(least, least_lazy_eigenvalue - 1e-12) << name << ", K " << steps;
                if (before.eigenvalues()(0) < least_lazy_eigenvalue)
                    EXPECT_NEAR(least, least_lazy_eigenvalue, 1e-9) << name << ", K " << steps;
                else
                    EXPECT_EQ(laziness, 0) << name << ", K " << steps;
            }
}

TEST(LazinessFor, OfALargeGraphIsThatOfItsSmallestEigenvalue) {
    // A ring of n has the Metropolis eigenvalues 1/3 + 2/3 cos(2 pi k / n).
    for (const int agents : {401, 900}) {
        const MixingMatrix mixing =
            MixingMatrix::from_rule(make(Topology::ring, agents), MixingRule::metropolis);
        const double least =
            1.0 / 3 + 2.0 / 3 * std::cos(2 * 3.14159265358979323846 * (agents / 2) / agents);
        const double needed = (0.02 - least) / (1 - least);
        EXPECT_GE(laziness_for(mixing, 1), needed) << agents;
        EXPECT_LE(laziness_for(mixing, 1), needed + 2e-4) << agents;
        EXPECT_EQ(laziness_for(mixing, 1), laziness_for(mixing, 1)) << "the same in every process";
    }
    // Few distinct eigenvalues, of which Lanczos may make nothing: any laziness up to that of -1.
    const MixingMatrix star =
        MixingMatrix::from_rule(make(Topology::star, 500), MixingRule::metropolis);
    const double laziness = laziness_for(star, 1);
    EXPECT_GT(laziness, 0);
    EXPECT_LT(laziness, 0.511);
}

TEST(Correction, IsReadAsItIsNamed) {
    for (const std::string& name : correction_names())
        EXPECT_EQ(name_of(parse_correction("correction", name)), name);
    EXPECT_EQ(correction_names().size(), 3U);
    EXPECT_THROW((void)parse_correction("correction", "extra"), ConfigError);
    EXPECT_EQ(exchanges_a_round(Correction::exact_diffusion, 3), 3);
    EXPECT_EQ(exchanges_a_round(Correction::tracking, 3), 6);
}

TEST(MixingRadius, LiesJustAboveTheSecondEigenvalue) {
    for (const auto& [name, graph] : test::sample_graphs({2, 8, 21})) {
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        const double lambda = second_eigenvalue_modulus(mixing), radius = mixing_radius(mixing);
        if (lambda < 1e-12)
            EXPECT_EQ(radius, 0) << name;
        else
            EXPECT_TRUE(radius > lambda && radius < lambda + 1e-10) << name;
    }
}

TEST(ConsensusSteps, AreTheFewestThatLeaveSoLittle) {
    const MixingMatrix mixing =
        MixingMatrix::from_rule(make(Topology::path, 9), MixingRule::metropolis);
    const double radius = mixing_radius(mixing);
    const int steps = consensus_steps(mixing, GossipRule::chebyshev, 0.05, 1000);
    EXPECT_LE(GossipPolynomial::chebyshev(steps, radius).at(radius), 0.05);
    EXPECT_GT(GossipPolynomial::chebyshev(steps - 1, radius).at(radius), 0.05);
    const int plain = consensus_steps(mixing, GossipRule::plain, 0.05, 1000);
    EXPECT_LE(std::pow(radius, plain), 0.05);
    EXPECT_GT(std::pow(radius, plain - 1), 0.05);
    EXPECT_EQ(consensus_steps(mixing, GossipRule::chebyshev, 0.05, 3), 3);
    const MixingMatrix complete =
        MixingMatrix::from_rule(make(Topology::complete, 5), MixingRule::metropolis);
    EXPECT_EQ(consensus_steps(complete, GossipRule::chebyshev, 0.05, 1000), 1);
}

}  // namespace
}  // namespace sotto
