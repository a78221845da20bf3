#include "sotto/learn/objective.hpp"

namespace sotto {

LossSum& LossSum::operator+=(const LossSum& other) {
    // A sum over nothing has no opinion; otherwise both parts must know their accuracy.
    if (records == 0)
        has_accuracy = other.has_accuracy;
    else if (other.records != 0)
        has_accuracy = has_accuracy && other.has_accuracy;
    loss += other.loss;
    correct += other.correct;
    records += other.records;
    return *this;
}

Eigen::VectorXd Objective::initial_model(std::uint64_t) const {
    return Eigen::VectorXd::Zero(dimension());
}

std::optional<Curvature> Objective::curvature_sum(const Eigen::Ref<const Eigen::VectorXd>&) {
    return std::nullopt;
}

}  // namespace sotto
