// A task of a user's own: `hill`, f_u(x) = |x - u 1|^2 / 2 in three dimensions.

#include "sotto/core/error.hpp"
#include "tasks/task_table.hpp"

namespace sotto {
namespace {

class Hill final : public Objective {
  public:
    explicit Hill(double top) : top_(Eigen::Vector3d::Constant(top)) {}

    Eigen::Index dimension() const override { return top_.size(); }
    Eigen::Index records() const override { return 1; }
    bool record_clipping() const override { return false; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index>,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient = model - top_;
    }
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {
        throw ConfigError("hill: no records to clip");
    }
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return {.loss = (model - top_).squaredNorm() / 2, .records = 1};
    }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index,
                      Eigen::Index) override {
        return train_loss(model);
    }

  private:
    Eigen::VectorXd top_;
};

LocalTask build_hills(const TaskConfig&, Control& network, const Membership& members) {
    LocalTask task;
    for (const int agent : network.local_agents())
        task.objectives.push_back(std::make_unique<Hill>(members.number(agent)));
    task.description = "one hill an agent";
    task.has_records = false;
    return task;
}

const Registered<TaskRecord> hill(tasks(),
                                  {.name = "hill",
                                   .summary = "the mean of the agents' numbers",
                                   .build = build_hills,
                                   .defaults = {{"step-size", "0.5"}}});

}  // namespace
}  // namespace sotto
