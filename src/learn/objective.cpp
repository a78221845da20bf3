#include "sotto/learn/objective.hpp"

#include "learn/norm_histogram.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto {

LossSum& LossSum::operator+=(const LossSum& other) {
    // An empty sum takes the other's accuracy; otherwise both must know theirs.
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

LossSum Objective::train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                       Eigen::Index) {
    return train_loss(model);
}

Eigen::VectorXd Objective::gradient_norms(const Eigen::Ref<const Eigen::VectorXd>& model,
                                          std::span<const Eigen::Index> rows) {
    Eigen::VectorXd norms(std::ssize(rows)), gradient(dimension());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        mean_gradient(model, rows.subspan(k, 1), gradient);
        norms(static_cast<Eigen::Index>(k)) = norm_or_nan(gradient);
    }
    return norms;
}

Eigen::Index Objective::test_records() const { return 0; }

std::vector<LossSum> Objective::test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) {
    std::vector<LossSum> losses;
    for (Eigen::Index m = 0; m < models.cols(); ++m)
        losses.push_back(test_loss(models.col(m), 0, 1));
    return losses;
}

Eigen::VectorXd Objective::record_losses(const Eigen::Ref<const Eigen::VectorXd>&, const Dataset&) {
    throw ConfigError("task: its losses are not those of single records");
}

bool Objective::shares_test(const Objective&) const { return false; }

std::optional<Curvature> Objective::curvature_sum(const Eigen::Ref<const Eigen::VectorXd>&) {
    return std::nullopt;
}

}  // namespace sotto
