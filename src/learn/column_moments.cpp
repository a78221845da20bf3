#include "learn/column_moments.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace sotto {

namespace {

/// Of records whose features are the columns.
class ColumnMoments final : public RecordObjective {
  public:
    explicit ColumnMoments(Dataset columns) : RecordObjective(std::move(columns), nullptr) {}

    Eigen::Index dimension() const override { return 2 * shard().feature_count(); }

  protected:
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                     const Dataset& /*data*/,
                     Eigen::Index /*row*/) override {
        return {};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                         const Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        const auto z = std::get<RealRows>(*data.dense).row(row);
        gradient << z.transpose(), z.cwiseAbs2().transpose();
    }
};

}  // namespace

std::unique_ptr<Objective> make_column_moments(const Dataset& shard,
                                               const std::vector<bool>& numbers) {
    const auto& table = std::get<RealRows>(shard.dense.value());
    const bool with_target = shard.target == Target::value;
    RealRows columns(shard.records(), std::ranges::count(numbers, true) + (with_target ? 1 : 0));
    Eigen::Index place = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k)
        if (numbers[k]) columns.col(place++) = table.col(static_cast<Eigen::Index>(k));
    if (with_target) columns.col(place) = shard.labels;
    Dataset data;
    data.source = shard.source;
    data.labels.setZero(shard.records());
    data.dense = std::move(columns);
    return std::make_unique<ColumnMoments>(std::move(data));
}

}  // namespace sotto
