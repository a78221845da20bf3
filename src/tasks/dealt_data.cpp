#include "tasks/dealt_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sotto/core/error.hpp"

namespace sotto {

PartitionSpec partition_of(const TaskConfig& config, Target target) {
    const bool values = target == Target::value;
    return config.partition.value_or(
        values ? PartitionSpec{PartitionSpec::Kind::iid}
               : PartitionSpec{.kind = PartitionSpec::Kind::dirichlet, .alpha = 10});
}

namespace {

/// What `deal` does with units, each with the label of its first record, done with their rows.
template <class Deal>
std::vector<std::vector<Eigen::Index>> rows_of_units(const Units& units,
                                                     const Eigen::VectorXd& labels_of_rows,
                                                     const Deal& deal) {
    std::vector<Eigen::Index> all(units.size());
    std::iota(all.begin(), all.end(), Eigen::Index{0});
    Eigen::VectorXd labels(std::ssize(units));
    for (std::size_t k = 0; k < units.size(); ++k)
        labels(static_cast<Eigen::Index>(k)) = labels_of_rows(units[k].front());
    std::vector<std::vector<Eigen::Index>> parts;
    for (const std::vector<Eigen::Index>& part : deal(all, labels)) {
        std::vector<Eigen::Index>& rows = parts.emplace_back();
        for (const Eigen::Index unit : part) {
            const std::vector<Eigen::Index>& own = units[static_cast<std::size_t>(unit)];
            rows.insert(rows.end(), own.begin(), own.end());
        }
        std::ranges::sort(rows);
    }
    return parts;
}

}  // namespace

std::vector<std::vector<Eigen::Index>> deal_rows(const Dataset& all,
                                                 const std::vector<Eigen::Index>& rows,
                                                 const TaskConfig& config,
                                                 int agents) {
    const PartitionSpec partition = partition_of(config, all.target);
    if (all.target == Target::value && partition.kind == PartitionSpec::Kind::dirichlet)
        throw ConfigError(fmt::format(
            "partition: {} deals by classes, {} has a number to predict (allowed: iid, by-label:k)",
            name_of(partition),
            config.data));
    if (config.table.unit.empty())
        return partition_rows(rows, all.labels, agents, partition, config.seed, all.writers);
    if (partition.kind == PartitionSpec::Kind::by_writer)
        throw ConfigError(
            "partition: by-writer is not possible with --unit-column, whose units are dealt whole "
            "(allowed: iid, dirichlet:ALPHA, by-label:k)");
    return rows_of_units(units_of(all, rows),
                         all.labels,
                         [&](std::span<const Eigen::Index> units, const Eigen::VectorXd& labels) {
                             return partition_rows(units, labels, agents, partition, config.seed);
                         });
}

namespace {

/// Rows to train and, unless there are test data of their own, to test on.
Split split_of(const Dataset& all, const TaskConfig& config) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(all.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    if (config.test_data) return {rows, {}};
    const bool by_unit = !config.table.unit.empty();
    const Units units = by_unit ? units_of(all, rows) : Units();
    const auto count = by_unit ? std::ssize(units) : all.records();
    if (count < 2)
        throw DataError(fmt::format("{}: {} {} is too few to split off a test set",
                                    all.source,
                                    count,
                                    by_unit ? "unit" : "record"));
    const Split split = split_rows(count, config.test_fraction, config.seed);
    if (!by_unit) return split;
    // Whoever is trained on is not tested on.
    auto parts = rows_of_units(units, all.labels, [&](const auto&, const auto&) {
        return std::vector{split.train, split.test};
    });
    return {std::move(parts[0]), std::move(parts[1])};
}

}  // namespace

Scaling::Scaling(const TaskConfig& config, const std::optional<TableShape>& table) {
    if (!table) return;
    numbers_ = feature_names(*table, config.table.missing).numbers;
    if (!config.table.bounds.empty())
        fixed_ = scaling_by_bounds(*table, config.table);
    else if (config.standardise == Standardise::none)
        fixed_ = no_standardisation(std::ssize(numbers_));
}

std::optional<Standardisation> Scaling::of(const Dataset& data,
                                           std::span<const Eigen::Index> rows) const {
    if (numbers_.empty()) return std::nullopt;
    return fixed_ ? *fixed_ : standardisation_of(data, rows, numbers_);
}

Deal::Deal(Dataset all, const TaskConfig& config, const Scaling& scaling)
    : all_(std::move(all)), split_(split_of(all_, config)), by_unit_(!config.table.unit.empty()) {
    moments_ = scaling.of(all_, split_.train);
    if (moments_) all_ = standardised(std::move(all_), *moments_);
}

AgentData Deal::agent(std::span<const Eigen::Index> rows,
                      std::shared_ptr<const Dataset> test) const {
    AgentData agent{select_rows(all_, rows), std::move(test), moments_};
    if (!by_unit_) return agent;
    std::vector<Eigen::Index> own(rows.size());
    std::iota(own.begin(), own.end(), Eigen::Index{0});
    agent.units = units_of(agent.shard, own);
    return agent;
}

std::shared_ptr<const Dataset> Deal::test(const std::shared_ptr<const Dataset>& given) const {
    if (!given) return std::make_shared<const Dataset>(select_rows(all_, split_.test));
    if (!moments_) return given;
    return std::make_shared<const Dataset>(standardised(*given, *moments_));
}

}  // namespace sotto
