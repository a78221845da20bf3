// A task of one's own whose gradient is the same vector in every round: what is left of a round is
// sotto's (module.py). --data is the number of parameters.

#include <memory>
#include <string>

#include "sotto/learn/objective.hpp"

namespace {

class Constant final : public sotto::RecordObjective {
  public:
    Constant(Eigen::Index dimension, sotto::Dataset shard)
        : RecordObjective(std::move(shard), nullptr), gradient_(dimension) {
        for (Eigen::Index k = 0; k < dimension; ++k)
            gradient_(k) = 1e-3 * static_cast<double>(k % 7);
    }
    Eigen::Index dimension() const override { return gradient_.size(); }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                     const sotto::Dataset&,
                     Eigen::Index) override {
        return {};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>&,
                         const sotto::Dataset&,
                         Eigen::Index,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient = gradient_;
    }

  private:
    Eigen::VectorXd gradient_;
};

std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions& options) {
    sotto::Dataset shard;
    shard.labels = Eigen::VectorXd::Zero(8);
    shard.source = "nothing";
    return std::make_unique<Constant>(std::stol(options.data), shard);
}

}  // namespace

SOTTO_OWN_TASK(make)
