#include "sotto/agent/model_mean.hpp"

#include <gtest/gtest.h>

#include "sotto/core/error.hpp"

namespace sotto {
namespace {

constexpr long rounds = 11;

Eigen::MatrixXd models_after(long round) {
    return Eigen::MatrixXd::Constant(3, 2, static_cast<double>(round * round + 1));
}

Smoothing tail(long length) {
    Smoothing smoothing;
    smoothing.tail_rounds = length;
    return smoothing;
}

TEST(ModelMean, IsThatOfTheLastRounds) {
    ModelMean mean(tail(4), rounds);
    mean.start(models_after(100));
    double sum = 0;
    for (long t = 0; t < rounds; ++t) {
        EXPECT_EQ(mean.values().cols() > 0, t > rounds - 4) << t;
        mean.add(t, models_after(t));
        if (t >= rounds - 4) sum += models_after(t)(0, 0);
    }
    EXPECT_NEAR(mean.values()(2, 1), sum / 4, 1e-12);
}

TEST(ModelMean, ThatIsExponentialStartsFromTheFirstModels) {
    Smoothing smoothing;
    smoothing.decay = 0.75;
    ModelMean mean(smoothing, rounds);
    mean.start(models_after(0));
    double expected = models_after(0)(0, 0);
    for (long t = 0; t < rounds; ++t) {
        mean.add(t, models_after(t + 1));
        expected = 0.75 * expected + 0.25 * models_after(t + 1)(0, 0);
    }
    EXPECT_NEAR(mean.values()(0, 0), expected, 1e-12);
}

TEST(ModelMean, GoesOnBitForBit) {
    Smoothing exponential;
    exponential.decay = 0.6;
    for (const Smoothing& smoothing : {tail(5), exponential}) {
        ModelMean whole(smoothing, rounds);
        whole.start(models_after(0));
        for (long stop = 0; stop <= rounds; ++stop) {
            ModelMean first(smoothing, rounds);
            first.start(models_after(0));
            for (long t = 0; t < stop; ++t) first.add(t, models_after(t));
            ModelMean second(smoothing, rounds);
            second.start(models_after(stop));
            second.resume(first.values(), models_after(stop), stop);
            for (long t = stop; t < rounds; ++t) second.add(t, models_after(t));
            if (stop == 0)
                whole = second;
            else
                EXPECT_EQ(second.values(), whole.values()) << stop;
        }
    }
}

TEST(ModelMean, OfNothingIsKeptWhereNoneIsAskedFor) {
    ModelMean mean(Smoothing{}, rounds);
    mean.start(models_after(0));
    mean.add(rounds - 1, models_after(1));
    EXPECT_EQ(mean.values().cols(), 0);
}

TEST(ModelMean, RefusesToGoOnWithAnotherNumberOfMeans) {
    ModelMean mean(tail(4), rounds);
    const Eigen::MatrixXd none(3, 0);
    EXPECT_NO_THROW(mean.resume(none, models_after(0), rounds - 4));
    EXPECT_THROW(mean.resume(none, models_after(0), rounds - 3), DataError);
    EXPECT_THROW(mean.resume(models_after(0), models_after(0), 1), DataError);
    EXPECT_THROW(mean.resume(Eigen::MatrixXd::Zero(2, 2), models_after(0), rounds - 1), DataError);
}

}  // namespace
}  // namespace sotto
