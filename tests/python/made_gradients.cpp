// The task of test_same_bits.py, as a task of one's own (docs/tasks.md): gradients that C++ and
// numpy compute with the same operations.

#include <memory>

#include "sotto/learn/objective.hpp"

namespace {

constexpr Eigen::Index dimension = 7;

/// Of record r: x / 2 - (r mod 11) 0.01 (k + 1).
class MadeGradients final : public sotto::RecordObjective {
  public:
    using RecordObjective::RecordObjective;
    Eigen::Index dimension() const override { return ::dimension; }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                     const sotto::Dataset&,
                     Eigen::Index) override {
        return {};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                         const sotto::Dataset&,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        for (Eigen::Index k = 0; k < ::dimension; ++k)
            gradient(k) = model(k) * 0.5 -
                          static_cast<double>(row % 11) * (0.01 * static_cast<double>(k + 1));
    }
};

std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions& options) {
    sotto::Dataset shard;
    shard.labels = Eigen::VectorXd::Zero(40 + options.agent);
    shard.source = "made";
    return std::make_unique<MadeGradients>(shard, nullptr);
}

}  // namespace

SOTTO_OWN_TASK(make)
