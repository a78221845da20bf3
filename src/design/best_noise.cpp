#include "design/best_noise.hpp"

#include <utility>

#include "design/spatial_dual.hpp"

namespace sotto {

BestNoise given_noise(Eigen::MatrixXd covariance) {
    return [covariance = std::move(covariance)](const Eigen::MatrixXd& utility) {
        return NoiseAnswer{covariance, utility.cwiseProduct(covariance).sum()};
    };
}

BestNoise free_noise(double price) {
    return [price, lambda = Eigen::VectorXd()](const Eigen::MatrixXd& utility) mutable {
        constexpr double ridge = 1e-8;
        const Eigen::Index n = utility.rows();
        const double unit = utility.trace() / static_cast<double>(n);
        Eigen::MatrixXd lifted = utility / unit;
        lifted.diagonal().array() += ridge + price / unit;
        SpatialOptions options;
        options.relative_gap = 1e-7;
        options.max_iterations = 60;
        DualProblem problem(lifted, Eigen::VectorXd::Ones(n));
        if (lambda.size() == 0) lambda = Eigen::VectorXd::Ones(n);
        const DualPoint point = problem.maximise(lambda, options);
        lambda = point.lambda;
        NoiseAnswer answer;
        answer.covariance = problem.feasible_covariance(point);
        answer.value = unit * lifted.cwiseProduct(answer.covariance).sum();
        return answer;
    };
}

}  // namespace sotto
