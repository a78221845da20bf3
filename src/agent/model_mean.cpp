#include "sotto/agent/model_mean.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"

namespace sotto {

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
