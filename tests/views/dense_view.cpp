#include "views/dense_view.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>

namespace sotto::test {

namespace {

/// All left singular vectors. Of some matrices with many equal singular values Eigen's fast
/// decomposition makes NaN or vectors of other values; then the slow one.
struct LeftVectors {
    Eigen::MatrixXd vectors;
    Eigen::VectorXd values;
};
LeftVectors left_vectors(const Eigen::MatrixXd& matrix) {
    const Eigen::BDCSVD<Eigen::MatrixXd> fast(matrix, Eigen::ComputeFullU);
    if (fast.matrixU().allFinite()) {
        Eigen::VectorXd sizes = (fast.matrixU().transpose() * matrix).rowwise().norm();
        sizes.head(fast.singularValues().size()) -= fast.singularValues();
        if (sizes.cwiseAbs().maxCoeff() <= 1e-12 * fast.singularValues()(0))
            return {fast.matrixU(), fast.singularValues()};
    }
    const Eigen::JacobiSVD<Eigen::MatrixXd> slow(matrix, Eigen::ComputeFullU);
    return {slow.matrixU(), slow.singularValues()};
}

}  // namespace

PlayedRun::PlayedRun(const MessageProcess& process, const View& view)
    : process_(process), view_(view), n_(process.plan->agents) {
    Eigen::MatrixXd lower = Eigen::MatrixXd::Identity(process.rounds(), process.rounds());
    long begin = 0, round = 0;  // of the noise, of all
    for (std::size_t i = 0; i < process.phases.size(); ++i) {
        const Phase& phase = process.phases[i];
        if (phase.plan != nullptr || (i > 0 && process.phases[i - 1].plan != nullptr))
            begin = round;
        const NoisePlan* plan = phase.plan != nullptr ? phase.plan : process.plan;
        for (long within = 0; within < phase.rounds; ++within, ++round) {
            plans_.push_back(plan);
            if (plan->temporal.kind == TemporalFactor::Kind::identity) continue;
            for (long s = 0; s <= round - begin; ++s)
                lower(round, begin + s) = entry(plan->temporal, round - begin, s);
        }
    }
    inverse_ = lower.inverse();
}

std::vector<std::optional<Eigen::MatrixXd>> dense_grams(const MessageProcess& process,
                                                        const View& view) {
    const PlayedRun run(process, view);
    const long rounds = process.rounds();
    std::vector<Eigen::VectorXd> columns;
    for (long t = 0; t < rounds; ++t)
        for (int k = 0; k < static_cast<int>(run.plan(t).streams.size()); ++k)
            if (!run.knows(t, k)) columns.push_back(run.noise(t, k));
    const Eigen::Index values = run.input(0, 0).size();
    // One column more than needed: the decomposition wants at least one.
    Eigen::MatrixXd b =
        Eigen::MatrixXd::Zero(values, static_cast<Eigen::Index>(columns.size()) + 1);
    for (std::size_t j = 0; j < columns.size(); ++j)
        b.col(static_cast<Eigen::Index>(j)) = columns[j];
    const LeftVectors left = left_vectors(b);
    Eigen::VectorXd variances = Eigen::VectorXd::Zero(values);
    variances.head(left.values.size()) = left.values.cwiseAbs2();
    const double cut_off = std::max(1e-11 * variances.maxCoeff(), 1e-300);
    std::vector<std::optional<Eigen::MatrixXd>> grams;
    for (int target = 0; target < process.plan->agents; ++target) {
        grams.emplace_back();
        if (run.is_member(target)) continue;
        Eigen::MatrixXd a(values, rounds);
        for (long t = 0; t < rounds; ++t) a.col(t) = run.input(t, target);
        const Eigen::MatrixXd components = left.vectors.transpose() * a;
        Eigen::VectorXd inverse = Eigen::VectorXd::Zero(values);
        bool covered = true;
        for (Eigen::Index i = 0; i < values; ++i) {
            if (variances(i) > cut_off)
                inverse(i) = 1 / variances(i);
            else
                covered = covered && components.row(i).cwiseAbs().maxCoeff() <= 1e-7;
        }
        if (covered) grams.back() = components.transpose() * inverse.asDiagonal() * components;
    }
    return grams;
}

}  // namespace sotto::test
