#include "agent/shared_preconditioner.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double kept_share = 0.9;  ///< of v at a renewal
constexpr double floor_share = 0.5;
constexpr double forgotten = 1e-12;

}  // namespace

MotionWeights motion_weights(const StepSchedule& steps, double momentum, long begin, long end) {
    MotionWeights weights;
    const auto add = [&](double factor) {
        weights.sum += factor;
        weights.squares += factor * factor;
    };
    double factor = 0;
    for (long s = end - 1; s >= begin; --s) {
        factor = steps.at(s) + momentum * factor;
        add(factor);
    }
    for (long s = begin - 1; s >= 0 && momentum > 0; --s) {
        factor *= momentum;
        if (factor <= forgotten * weights.sum) break;
        add(factor);
    }
    return weights;
}

SharedPreconditioner::SharedPreconditioner(const Preconditioning& options,
                                           const StepSchedule& steps,
                                           double momentum,
                                           double l2)
    : options_(options), steps_(steps), momentum_(momentum), l2_(l2) {}

void SharedPreconditioner::start(const Eigen::MatrixXd& models) {
    anchors_ = models;
    moments_ = Eigen::MatrixXd::Zero(models.rows(), models.cols());
    take_scales();
}

void SharedPreconditioner::resume(const Eigen::MatrixXd& anchors, const Eigen::MatrixXd& moments) {
    for (const Eigen::MatrixXd* values : {&anchors, &moments})
        if (values->rows() != anchors_.rows() || values->cols() != anchors_.cols() ||
            !values->allFinite())
            throw DataError(fmt::format(
                "a preconditioner to go on from: {} x {} values (allowed: {} x {}, all finite)",
                values->rows(),
                values->cols(),
                anchors_.rows(),
                anchors_.cols()));
    anchors_ = anchors;
    moments_ = moments;
    take_scales();
}

void SharedPreconditioner::renew(long round, const Eigen::MatrixXd& models) {
    const long begin = round + 1 - options_.every;
    const MotionWeights weights = motion_weights(steps_, momentum_, begin, round + 1);
    double kept = 1;
    for (long t = begin; t <= round; ++t) kept *= 1 - steps_.at(t) * l2_;
    const double noise = options_.noise_variance * (weights.squares / (weights.sum * weights.sum));
    const double old = begin == 0 ? 0 : kept_share;
    moments_ =
        old * moments_.array() +
        (1 - old) *
            (((kept * anchors_ - models).array() / (weights.sum * scales_.array())).square() -
             noise);
    // Models of extreme size; P stays what it can be.
    moments_ = moments_.unaryExpr([](double v) { return std::isfinite(v) ? v : 0.0; });
    anchors_ = models;
    take_scales();
}

void SharedPreconditioner::take_scales() {
    scales_.setOnes(moments_.rows(), moments_.cols());
    for (Eigen::Index a = 0; a < moments_.cols(); ++a) {
        const auto positive = moments_.col(a).array().max(0);
        const double mean = positive.mean(), least = floor_share * floor_share * mean;
        // 1 / least must be a number, too.
        if (std::isnormal(least)) scales_.col(a) = ((mean + least) / (positive + least)).sqrt();
    }
}

}  // namespace sotto
