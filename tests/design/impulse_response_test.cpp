#include "design/impulse_response.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sotto {
namespace {

/// What agents end up with after `rounds` rounds of u <- B u + z, x <- p (x + u), where z is 1 in
/// one round: the training itself, round by round.
double end_of_training(const Smoothing& smoothing, double p, long rounds, long noisy) {
    double model = 0, velocity = 0, exponential = 0, tail = 0;
    for (long t = 0; t < rounds; ++t) {
        velocity = smoothing.momentum * velocity + (t == noisy ? 1 : 0);
        model = p * (model + velocity);
        exponential = smoothing.decay * exponential + (1 - smoothing.decay) * model;
        if (t >= rounds - smoothing.tail_rounds)
            tail += model / static_cast<double>(smoothing.tail_rounds);
    }
    return smoothing.decay > 0 ? exponential : tail;
}

TEST(ImpulseResponse, IsThatOfTheTraining) {
    constexpr long rounds = 23;
    std::vector<Smoothing> all(5);
    all[1].momentum = 0.8;
    all[2].tail_rounds = 6;
    all[3].decay = 0.7;
    all[4].momentum = 0.5;
    all[4].tail_rounds = rounds;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const double p : {-0.6, 0.0, 0.4, 1.0}) {
            ImpulseResponse<double> response(all[i], p, 1.0);
            for (long age = 1; age <= rounds; ++age)
                EXPECT_NEAR(
                    response.next(), end_of_training(all[i], p, rounds, rounds - age), 1e-13)
                    << i << ", p " << p << ", age " << age;
        }
}

TEST(ImpulseResponse, OfAMatrixIsThatOfItsEigenvalues) {
    Smoothing smoothing;
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

}  // namespace
}  // namespace sotto
