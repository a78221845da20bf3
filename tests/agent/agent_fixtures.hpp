#pragma once

#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/seeded_random.hpp"
#include "learn/logistic.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"

namespace sotto::test {

/// Whose noise is looked at.
inline constexpr int noisy_agents = 20;

/// What a call says that it must not do; empty: it does it.
template <class Call>
std::string privacy_error_of(Call&& call) {
    try {
        call();
    } catch (const PrivacyError& error) {
        return error.what();
    }
    return {};
}

/// Gradients from a function of the model; the loss is not looked at.
class FunctionObjective final : public Objective {
  public:
    using Function = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;
    FunctionObjective(Eigen::Index dimension, Function gradient)
        : dimension_(dimension), gradient_(std::move(gradient)) {}
    Eigen::Index dimension() const override { return dimension_; }
    Eigen::Index records() const override { return 1; }
    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index>,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient = gradient_(model);
    }
    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>&,
                              std::span<const Eigen::Index>,
                              double,
                              double,
                              Eigen::Ref<Eigen::VectorXd>) override {
        throw ConfigError("function task: it has no records");
    }
    bool record_clipping() const override { return false; }
    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>&) override { return {0, 0, 1}; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                      Eigen::Index,
                      Eigen::Index) override {
        return {};
    }

  private:
    Eigen::Index dimension_;
    Function gradient_;
};

/// No noise; gradients on the given grid.
inline NoisePlan silent_plan(int agents, int grid_step_log2 = -40) {
    NoisePlan plan;
    plan.mechanism = "none";
    plan.agents = agents;
    plan.grid_step_log2 = grid_step_log2;
    plan.validate();
    return plan;
}

inline LocalAgent local_agent(int id, std::unique_ptr<Objective> objective, Eigen::Index batch) {
    const Eigen::Index records = objective->records();
    return {id, std::move(objective), BatchSampler::uniform(records, batch, 7, id), batch};
}

/// Agents that share a data set, each with all of its shard in every batch.
inline std::vector<LocalAgent> full_batch_agents(const Dataset& data,
                                                 const std::shared_ptr<const Dataset>& test,
                                                 int agents) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < data.records(); ++i) rows.push_back(i);
    const auto shards =
        partition_rows(rows, data.labels, agents, {PartitionSpec::Kind::dirichlet, 2, 1}, 3);
    std::vector<LocalAgent> result;
    for (int u = 0; u < agents; ++u) {
        auto objective =
            make_logistic_objective(select_rows(data, shards[static_cast<std::size_t>(u)]), test);
        const Eigen::Index records = objective->records();
        result.push_back(local_agent(u, std::move(objective), records));
    }
    return result;
}

/// A Trainer without noise on a network of its own.
struct SilentTraining {
    SilentTraining(const Topography& topography,
                   std::vector<LocalAgent> agents,
                   const Eigen::VectorXd& initial,
                   const TrainerOptions& options,
                   int grid_step_log2 = -40)
        : network(make_memory_network(topography.graph.agents(), options.threads)) {
        network->connect(topography.graph);
        const NoisePlan plan = silent_plan(topography.graph.agents(), grid_step_log2);
        std::vector<KeyRing> rings;
        for (int u = 0; u < plan.agents; ++u) rings.emplace_back(u);
        trainer = std::make_unique<Trainer>(*network,
                                            MixingSchedule({topography.mixing}),
                                            plan,
                                            NoiseSource(plan, rings, options.threads),
                                            std::move(agents),
                                            initial,
                                            options);
    }
    void run(long rounds) {
        for (const long last = next + rounds; next < last; ++next) trainer->run_round(next);
    }
    std::unique_ptr<Network> network;
    std::unique_ptr<Trainer> trainer;
    long next = 0;
};

}  // namespace sotto::test
