// Poisson regression as a task of one's own: counts y with mean exp(w.a + b).
// The data are a table of numbers (CSV), the count in the last column.

#include <cmath>
#include <memory>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace {

/// d = features + 1, the bias last. Loss of a record: exp(score) - y score (the negative
/// log-likelihood without its constant).
class PoissonObjective final : public sotto::RecordObjective {
  public:
    PoissonObjective(sotto::Dataset shard, std::shared_ptr<const sotto::Dataset> test)
        : RecordObjective(std::move(shard), std::move(test)) {}

    Eigen::Index dimension() const override { return shard().feature_count() + 1; }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                     const sotto::Dataset& data,
                     Eigen::Index row) override {
        const double score = score_of(model, data, row);
        return {.loss = std::exp(score) - data.labels[row] * score};
    }

    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                         const sotto::Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        const double slope = std::exp(score_of(model, data, row)) - data.labels[row];
        gradient.head(features_.size()) = slope * features_;
        gradient[features_.size()] = slope;
    }

  private:
    /// Leaves the record's features in features_.
    double score_of(const Eigen::Ref<const Eigen::VectorXd>& model,
                    const sotto::Dataset& data,
                    Eigen::Index row) {
        features_.resize(data.feature_count());
        sotto::copy_features(data, {&row, 1}, features_);
        return features_.dot(model.head(features_.size())) + model[features_.size()];
    }

    Eigen::VectorXd features_;
};

/// Every agent reads the same file; agent u of n trains on every n-th of the training records.
std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions& options) {
    const sotto::Dataset all = sotto::read_records(options.data);
    if (all.labels.minCoeff() < 0) throw sotto::DataError(all.source + ": a count is negative");
    const sotto::Split split =
        sotto::split_rows(all.records(), options.test_fraction, options.seed);
    std::vector<Eigen::Index> own;
    for (std::size_t i = static_cast<std::size_t>(options.agent); i < split.train.size();
         i += static_cast<std::size_t>(options.agents))
        own.push_back(split.train[i]);
    return std::make_unique<PoissonObjective>(
        sotto::select_rows(all, own),
        std::make_shared<const sotto::Dataset>(sotto::select_rows(all, split.test)));
}

}  // namespace

SOTTO_OWN_TASK(make)
