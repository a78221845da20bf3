#include "audit/coin_checks.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace math = boost::math;

/// Columns of canaries with this sign.
MatrixXd columns_with(const MatrixXd& values, const VectorXd& signs, double sign) {
    MatrixXd result(values.rows(), (signs.array() == sign).count());
    for (Index i = 0, column = 0; i < signs.size(); ++i)
        if (signs(i) == sign) result.col(column++) = values.col(i);
    return result;
}

/// The probability that canaries, or companions, show on average.
CoinCheck check_of_probability(std::string name,
                               const CoinModel& model,
                               const MatrixXd& values,
                               double probability) {
    const VectorXd weights = model.mean().cwiseQuotient(model.variance());
    const auto count = static_cast<double>(values.cols());
    const double mean = count * weights.dot(model.mean());
    return check_of_mean(std::move(name),
                         weights.dot(values.rowwise().sum()),
                         mean,
                         count * weights.cwiseAbs2().dot(model.variance()),
                         mean / probability);
}

/// Values less their mean, one by one.
CoinCheck check_of_spread(std::string name, const CoinModel& model, const MatrixXd& centred) {
    const VectorXd weights = model.variance().cwiseInverse();
    const auto count = static_cast<double>(centred.cols());
    return check_of_squares(std::move(name),
                            weights.dot(centred.cwiseAbs2().rowwise().sum()),
                            count * static_cast<double>(weights.size()),
                            count * model.variance_of_squares(weights));
}

/// Sums over rounds, of every canary.
CoinCheck check_between_rounds(std::string name,
                               const CoinModel& model,
                               const VectorXd& weights,
                               const MatrixXd& centred) {
    const auto count = static_cast<double>(centred.cols());
    return check_of_squares(std::move(name),
                            (weights.transpose() * centred).squaredNorm(),
                            count * weights.cwiseAbs2().dot(model.variance()),
                            count * model.variance_of_square(weights));
}

/// Sums over canaries, of every mode.
CoinCheck check_between_canaries(std::string name,
                                 const CoinModel& model,
                                 const MatrixXd& centred) {
    const auto modes = static_cast<double>(centred.rows());
    const auto count = static_cast<double>(centred.cols());
    const VectorXd sums = centred.rowwise().sum(), weights = model.variance().cwiseInverse();
    return check_of_squares(std::move(name),
                            weights.dot(sums.cwiseAbs2()) / count,
                            modes,
                            // What one canary has more than a normal variable, a sum has less.
                            2 * modes + (model.variance_of_squares(weights) - 2 * modes) / count);
}

/// How much of the contributions goes with coins that are known: 1 if these are the coins.
CoinCheck check_of_known(const KnownCoins& known,
                         const CoinModel& model,
                         const Eigen::SparseMatrix<double>& response,
                         const CoinSubject& subject,
                         const MatrixXd& centred) {
    const MatrixXd drawn = columns_with(known.drawn, subject.signs, 1);
    const MatrixXd expected =
        response.transpose() *
        (subject.contribution * (drawn.array() - subject.probability)).matrix().eval();
    const VectorXd weights = model.variance().cwiseInverse();
    const double power = weights.dot(expected.cwiseAbs2().rowwise().sum());
    return check_of_mean(
        known.whose, weights.dot(expected.cwiseProduct(centred).rowwise().sum()), 0, power, power);
}

}  // namespace

CoinModel::CoinModel(const Eigen::SparseMatrix<double>& response,
                     double contribution,
                     double probability,
                     double count)
    : shown_(contribution * response) {
    const double variance = probability * (1 - probability);
    fourth_cumulant_ = count * variance * (1 - 6 * variance);
    mean_ = count * probability * (shown_.transpose() * VectorXd::Ones(shown_.rows()));
    variance_ = VectorXd::Ones(shown_.cols()) +
                count * variance *
                    (shown_.cwiseProduct(shown_).transpose() * VectorXd::Ones(shown_.rows()));
}

double CoinModel::variance_of_squares(const VectorXd& weights) const {
    const VectorXd of_rounds = shown_.cwiseProduct(shown_) * weights;
    return 2 * weights.cwiseProduct(variance_).squaredNorm() +
           fourth_cumulant_ * of_rounds.squaredNorm();
}

double CoinModel::variance_of_square(const VectorXd& weights) const {
    const double variance = weights.cwiseAbs2().dot(variance_);
    const VectorXd of_rounds = shown_ * weights;
    return 2 * variance * variance + fourth_cumulant_ * of_rounds.array().pow(4).sum();
}

CoinCheck check_of_mean(std::string name, double sum, double mean, double variance, double unit) {
    const double deviation = std::sqrt(variance);
    return {.name = std::move(name),
            .measured = sum / unit,
            .expected = mean / unit,
            .standard_error = deviation / std::abs(unit),
            .p_value =
                2 * math::cdf(math::complement(math::normal(), std::abs(sum - mean) / deviation))};
}

CoinCheck check_of_squares(std::string name, double sum, double mean, double variance) {
    // A chi-squared variable of f degrees of freedom has mean f and variance 2 f.
    const double freedom = 2 * mean * mean / variance;
    const math::chi_squared chi(freedom);
    const double value = freedom * sum / mean;
    return {.name = std::move(name),
            .measured = sum / mean,
            .expected = 1,
            .standard_error = std::sqrt(variance) / mean,
            .p_value = std::min(
                1.0, 2 * std::min(math::cdf(chi, value), math::cdf(math::complement(chi, value))))};
}

std::vector<CoinCheck> check_coins(const ContributionModes& modes, const CoinSubject& subject) {
    const Index trials = subject.signs.size();
    if (modes.values.cols() != trials + 1)
        throw ConfigError("canaries: one coordinate each and one of companions are needed");
    const CoinModel one(modes.response, subject.contribution, subject.probability, 1);
    const CoinModel all(
        modes.response, subject.contribution, subject.probability, subject.companions);
    const CoinModel noise(modes.response, 0, subject.probability, 1);
    const MatrixXd there = columns_with(modes.values, subject.signs, 1);
    const MatrixXd centred = there.colwise() - one.mean();
    const MatrixXd absent = columns_with(modes.values, subject.signs, -1);
    const MatrixXd batches = modes.values.col(trials);
    const VectorXd over_rounds = modes.response.transpose() * VectorXd::Ones(modes.response.rows());
    std::vector<CoinCheck> checks{
        check_of_probability("probability of canaries", one, there, subject.probability),
        check_of_spread("variance of canaries that are there", one, centred),
        check_of_spread("variance of canaries that are not there", noise, absent),
        check_between_rounds(
            "sum over rounds of canaries that are there", one, over_rounds, centred),
        check_between_rounds(
            "sum over rounds of canaries that are not there", noise, over_rounds, absent),
        check_between_canaries("sum over the canaries of a round", one, centred),
        check_of_probability("probability of companions", all, batches, subject.probability),
        check_of_spread(
            "variance of the companions of a round", all, batches.colwise() - all.mean())};
    for (const KnownCoins& known : subject.known)
        checks.push_back(check_of_known(known, one, modes.response, subject, centred));
    return checks;
}

}  // namespace sotto
