#include "design/anderson_steps.hpp"

#include <Eigen/QR>
#include <iterator>

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd AndersonSteps::next(const VectorXd& point, const VectorXd& image) {
    const VectorXd residual = image - point;
    if (last_image_.size() > 0) {
        image_changes_.push_back(image - last_image_);
        residual_changes_.push_back(residual - last_residual_);
        if (image_changes_.size() > memory_) {
            image_changes_.pop_front();
            residual_changes_.pop_front();
        }
    }
    last_image_ = image;
    last_residual_ = residual;
    if (residual_changes_.empty()) return image;
    MatrixXd changes(residual.size(), std::ssize(residual_changes_));
    for (std::size_t i = 0; i < residual_changes_.size(); ++i)
        changes.col(static_cast<Eigen::Index>(i)) = residual_changes_[i];
    Eigen::ColPivHouseholderQR<MatrixXd> solver(changes);
    solver.setThreshold(1e-10);
    const VectorXd shares = solver.solve(residual);
    VectorXd result = image;
    for (std::size_t i = 0; i < image_changes_.size(); ++i)
        result -= shares(static_cast<Eigen::Index>(i)) * image_changes_[i];
    return result;
}

void AndersonSteps::forget() {
    last_image_.resize(0);
    last_residual_.resize(0);
    image_changes_.clear();
    residual_changes_.clear();
}

}  // namespace sotto
