#include "training/training_without_privacy.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/seeded_random.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int steps = 500;
constexpr double first_step = 0.01;

/// Kingma and Ba, Adam, algorithm 1.
class Adam {
  public:
    explicit Adam(Index dimension)
        : mean_(VectorXd::Zero(dimension)), square_(VectorXd::Zero(dimension)) {}
    void step(int t, double size, const VectorXd& gradient, VectorXd& model) {
        constexpr double keep_mean = 0.9, keep_square = 0.999, tiny = 1e-8;
        mean_ = keep_mean * mean_ + (1 - keep_mean) * gradient;
        square_ = keep_square * square_ + (1 - keep_square) * gradient.cwiseAbs2();
        const double of_mean = 1 - std::pow(keep_mean, t + 1);
        const double of_square = 1 - std::pow(keep_square, t + 1);
        model.array() -=
            size * (mean_.array() / of_mean) / ((square_.array() / of_square).sqrt() + tiny);
    }

  private:
    VectorXd mean_, square_;
};

/// Records of an agent for one step, drawn with replacement.
std::vector<Index> batch_of(SeededRandom& random, Index records, std::size_t agents) {
    constexpr std::size_t of_all = 512;
    const std::size_t share = std::max<std::size_t>(1, of_all / agents);
    std::vector<Index> rows(std::min(share, static_cast<std::size_t>(records)));
    for (Index& row : rows)
        row = static_cast<Index>(random.below(static_cast<std::uint64_t>(records)));
    return rows;
}

LossSum test_of(std::vector<LocalAgent>& agents, bool own_tests, const VectorXd& model) {
    LossSum sum = agents.front().objective->test_loss(model, 0, 1);
    if (own_tests)
        for (std::size_t a = 1; a < agents.size(); ++a)
            sum += agents[a].objective->test_loss(model, 0, 1);
    return sum;
}

}  // namespace

LossSum train_without_privacy(
    std::vector<LocalAgent>& agents, double l2, bool own_tests, std::uint64_t seed, int threads) {
    VectorXd model = agents.front().objective->initial_model(seed);
    std::vector<SeededRandom> random;
    for (std::size_t a = 0; a < agents.size(); ++a)
        random.emplace_back(seed, "training without privacy", a);
    MatrixXd gradients(model.size(), std::ssize(agents));
    Adam adam(model.size());
    for (int t = 0; t < steps; ++t) {
        parallel_for(std::ssize(agents), threads, [&](long a) {
            const auto place = static_cast<std::size_t>(a);
            Objective& objective = *agents[place].objective;
            objective.mean_gradient(model,
                                    batch_of(random[place], objective.records(), agents.size()),
                                    gradients.col(a));
        });
        const VectorXd gradient = gradients.rowwise().mean() + l2 * model;
        adam.step(t, first_step * (1 - static_cast<double>(t) / steps), gradient, model);
    }
    return test_of(agents, own_tests, model);
}

}  // namespace sotto
