#include "tasks/task_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "config/agent_path.hpp"
#include "learn/readers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/dataset.hpp"
#include "tasks/data_shape.hpp"

namespace sotto {

PartitionSpec partition_of(const TaskConfig& config, Target target) {
    const bool values = target == Target::value;
    return config.partition.value_or(
        values ? PartitionSpec{PartitionSpec::Kind::iid}
               : PartitionSpec{.kind = PartitionSpec::Kind::dirichlet, .alpha = 10});
}

namespace {

/// Applies `deal` to units, each with the label of its first record; returns their rows.
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
        throw ConfigError(
            fmt::format("partition: {} deals by classes, but {} has a number to predict (allowed: "
                        "iid, by-label:k)",
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

/// Rows to train on and, unless there are test data, to test on.
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
    // No unit is in both parts.
    auto parts = rows_of_units(units, all.labels, [&](const auto&, const auto&) {
        return std::vector{split.train, split.test};
    });
    return {std::move(parts[0]), std::move(parts[1])};
}

}  // namespace

namespace {

/// @throws ConfigError if a table has columns of numbers, and nobody said how to scale them.
void require_scaling(const TaskConfig& config, const TableShape& table) {
    const std::vector<std::string> columns = scaled_columns(table);
    if (columns.empty() || !config.table.bounds.empty() || config.standardise) return;
    throw ConfigError(fmt::format(
        "standardise: not given, but columns of numbers need a scale: {} (allowed: --bounds with "
        "the limits of each that are known in general, which costs nothing; --bounds with "
        "--standardise private, which also learns their means and deviations in one round and pays "
        "5% of mu^2 for it; --standardise public, by mean and deviation of the training data, "
        "which no guarantee counts; --standardise none for columns that are scaled already)",
        short_list(columns)));
}

}  // namespace

Scaling::Scaling(const TaskConfig& config, const std::optional<TableShape>& table) {
    if (!table) return;
    numbers_ = feature_names(*table, config.table.missing).numbers;
    require_scaling(config, *table);
    if (config.known_scaling)
        fixed_ = config.known_scaling;
    else if (!config.table.bounds.empty())
        fixed_ = scaling_by_bounds(*table, config.table);
    else if (config.standardise != Standardise::public_moments)
        fixed_ = no_standardisation(std::ssize(numbers_));
    if (fixed_ && fixed_->features.size() != numbers_.size())
        throw DataError(fmt::format("{}: the run's scaling is of {} features, the data have {}",
                                    config.data,
                                    fixed_->features.size(),
                                    numbers_.size()));
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

namespace {

/// @param digests the files' digests are appended.
DataFile joined(const std::string& option,
                const std::vector<std::string>& files,
                std::vector<ReadFile> read,
                std::vector<FileDigest>& digests) {
    std::vector<Dataset> parts;
    std::vector<Table> tables;
    for (std::size_t f = 0; f < files.size(); ++f) {
        if (auto* table = std::get_if<Table>(&read[f].data)) {
            digests.push_back({option, files[f], table->records(), read[f].digest});
            tables.push_back(std::move(*table));
        } else {
            const Dataset& part = parts.emplace_back(std::move(std::get<Dataset>(read[f].data)));
            digests.push_back({option, files[f], part.records(), read[f].digest});
        }
    }
    if (!tables.empty() && !parts.empty())
        throw DataError(fmt::format("{} and {} are of different formats and cannot be one data set",
                                    tables.front().source,
                                    parts.front().source));
    if (!tables.empty()) return concatenated(std::move(tables));
    return parts.size() == 1 ? std::move(parts.front()) : concatenate(std::move(parts));
}

}  // namespace

DataFile read_files(const std::string& option,
                    const std::string& list,
                    int agent,
                    std::vector<FileDigest>& digests) {
    const std::vector<std::string> files = listed_files(list, agent);
    std::vector<ReadFile> read;
    for (const std::string& file : files) read.push_back(read_with_digest(file));
    return joined(option, files, std::move(read), digests);
}

namespace {

/// Data as in their files.
struct ReadData {
    std::vector<DataFile> sets{};  ///< one shared by all agents, or one per local agent
    /// Given test data: none, one shared by all agents, or one per local agent.
    std::vector<DataFile> tests{};
};

struct FittedData {
    std::vector<Dataset> sets{};
    std::vector<std::shared_ptr<const Dataset>> tests{};

    [[nodiscard]] std::shared_ptr<const Dataset> test(std::size_t local_index) const {
        if (tests.empty()) return nullptr;
        return tests[tests.size() == 1 ? 0 : local_index];
    }
};

bool one_test_file_an_agent(const TaskConfig& config) {
    return config.test_data && differs_by_agent(*config.test_data);
}

/// Whether agents have different test records, or differently scaled ones.
bool tests_differ(const TaskConfig& config, const Scaling& scaling) {
    if (one_test_file_an_agent(config)) return true;
    return one_file_an_agent(config) && (!config.test_data || scaling.by_data());
}

/// Files that all processes read.
struct SharedNames {
    std::vector<std::string> tests, sets;
};

SharedNames shared_names(const TaskConfig& config) {
    SharedNames names;
    if (config.test_data && !one_test_file_an_agent(config))
        names.tests = listed_files(*config.test_data, 0);
    if (config.data != "synthetic" && !one_file_an_agent(config))
        names.sets = listed_files(config.data, 0);
    return names;
}

/// @param shared what was read of `names`, in order.
ReadData read_others(const TaskConfig& config,
                     const Control& network,
                     const Membership& members,
                     const SharedNames& names,
                     std::vector<ReadFile> shared,
                     DataDigests& digests) {
    constexpr Eigen::Index synthetic_records = 32561;  // as many as a9a
    const bool own_sets = one_file_an_agent(config), own_tests = one_test_file_an_agent(config);
    ReadData read;
    if (own_sets || own_tests) digests.own.resize(network.local_agents().size());
    std::vector<ReadFile> sets(std::move_iterator(shared.begin() + std::ssize(names.tests)),
                               std::move_iterator(shared.end()));
    shared.resize(names.tests.size());
    if (!names.tests.empty())
        read.tests.push_back(joined("test-data", names.tests, std::move(shared), digests.shared));
    if (config.data == "synthetic")
        read.sets.emplace_back(synthetic_binary(synthetic_records, config.seed));
    else if (!own_sets)
        read.sets.push_back(joined("data", names.sets, std::move(sets), digests.shared));
    for (std::size_t a = 0; a < digests.own.size(); ++a) {
        const int number = members.number(network.local_agents()[a]);
        std::vector<FileDigest>& own = digests.own[a];
        if (own_sets) read.sets.push_back(read_files("data", config.data, number, own));
        if (own_tests)
            read.tests.push_back(read_files("test-data", *config.test_data, number, own));
    }
    return read;
}

/// COLLECTIVE.
ReadData read_all(const TaskConfig& config,
                  Control& network,
                  const Membership& members,
                  DataDigests& digests) {
    SharedNames names;
    network.agree([&] {
        if (!(config.test_fraction > 0 && config.test_fraction < 1))
            throw ConfigError(
                fmt::format("test-fraction: {} is not allowed (must lie strictly between 0 and 1)",
                            config.test_fraction));
        names = shared_names(config);
    });
    std::vector<std::string> files = names.tests;
    files.insert(files.end(), names.sets.begin(), names.sets.end());
    std::vector<ReadFile> shared = read_shared_files(network, files);
    ReadData read;
    network.agree(
        [&] { read = read_others(config, network, members, names, std::move(shared), digests); });
    return read;
}

const std::string& source_of(const DataFile& file) {
    return std::visit([](const auto& data) -> const std::string& { return data.source; }, file);
}

/// The shape of one file. @throws DataError for labels that are no classes; ConfigError for table
/// options if the data are no table.
DataShape shape_of(const DataFile& file, const TaskConfig& config) {
    if (const auto* table = std::get_if<Table>(&file)) {
        const TableShape shape = shape_of(*table, config.table);
        return {.target = shape.target, .labels = shape.labels, .table = shape};
    }
    const auto& data = std::get<Dataset>(file);
    if (config.table != TableOptions{} || config.standardise)
        throw ConfigError(fmt::format(
            "label: --label, --label-kind, --ignore, --categorical, --missing, --bounds and "
            "--standardise are about CSV data, and {} are not (allowed without these options)",
            data.source));
    return {.target = data.target,
            .features = data.feature_count(),
            .image_rows = data.image_rows,
            .labels = labels_of(data)};
}

/// @throws DataError if data of this process have different formats, or labels are no classes.
DataShape shape_of(const ReadData& read, const TaskConfig& config) {
    const std::string& first = source_of(read.sets.front());
    const auto require_like_first = [&](const DataFile& other) {
        if (other.index() != read.sets.front().index())
            throw DataError(
                fmt::format("{} and {} are of different formats", first, source_of(other)));
    };
    DataShape shape = shape_of(read.sets.front(), config);
    for (std::size_t a = 1; a < read.sets.size(); ++a) {
        require_like_first(read.sets[a]);
        const std::string& source = source_of(read.sets[a]);
        const DataShape other = shape_of(read.sets[a], config);
        if (other.table) shape.table = united(*shape.table, *other.table, source);
        shape.features = std::max(shape.features, other.features);
        shape.image_rows = same_image_rows(shape.image_rows, first, other.image_rows, source);
        shape.labels = united(shape.labels, other.labels);
    }
    for (const DataFile& test : read.tests) {
        require_like_first(test);
        if (const auto* data = std::get_if<Dataset>(&test))
            (void)same_image_rows(shape.image_rows, first, data->image_rows, data->source);
    }
    return shape;
}

/// This process's order: the columns of its first table, and the files that a pattern matches.
DataOrder own_order(const ReadData& read, const TaskConfig& config) {
    DataOrder order;
    if (const auto* table = std::get_if<Table>(read.sets.data())) order.columns = table->names();
    if (is_pattern(config.data))
        for (const std::string& file : matching_files(config.data))
            order.files.push_back(std::filesystem::path(file).filename());
    return order;
}

/// @throws ConfigError unless a pattern gives every agent a file, the same on all ranks.
void require_one_file_an_agent(const TaskConfig& config,
                               const DataOrder& own,
                               const DataOrder& order,
                               int agents) {
    if (own.files != order.files)
        throw ConfigError(fmt::format(
            "data: {} matches other files here than on rank 0 (allowed: %r in the name, which is "
            "the agent's number, where every rank has its own files only)",
            config.data));
    if (!own.files.empty() && std::ssize(own.files) != agents)
        throw ConfigError(
            fmt::format("data: {} matches {} files, and there are {} agents (needed: one file for "
                        "every agent, --agents {})",
                        config.data,
                        own.files.size(),
                        agents,
                        own.files.size()));
}

void order_columns(ReadData& read, const std::vector<std::string>& names) {
    const auto order = [&](std::vector<DataFile>& files, const char* whose) {
        for (DataFile& file : files)
            if (auto* table = std::get_if<Table>(&file))
                *table = with_columns(std::move(*table), names, whose);
    };
    order(read.sets, "the first file of agent 0");
    order(read.tests, "the training data");
}

/// Encodes the data for all agents' models: classes for labels, categories as features, equally
/// many features.
FittedData fitted(ReadData read, const DataShape& shape, const TaskConfig& config) {
    const auto fit = [&](DataFile& file) {
        auto* table = std::get_if<Table>(&file);
        Dataset data = table != nullptr ? encoded(*table, *shape.table, config.table.missing)
                                        : std::move(std::get<Dataset>(file));
        if (data.feature_count() > shape.features)
            throw DataError(fmt::format("{}: {} features, the training data have {}",
                                        data.source,
                                        data.feature_count(),
                                        shape.features));
        return widened(with_classes(std::move(data), shape.labels), shape.features);
    };
    FittedData fits;
    for (DataFile& set : read.sets) fits.sets.push_back(fit(set));
    for (DataFile& test : read.tests)
        fits.tests.push_back(std::make_shared<const Dataset>(fit(test)));
    return fits;
}

void deal_shared(const TaskConfig& config,
                 const Control& network,
                 const Membership& members,
                 FittedData read,
                 const Scaling& scaling,
                 LocalData& local) {
    const Deal deal(std::move(read.sets.front()), config, scaling);
    const auto shards = deal_rows(deal.all(), deal.train(), config, members.all);
    local.digests.partition = digest_of_partition(shards);
    std::shared_ptr<const Dataset> shared;
    if (read.tests.size() < 2) shared = deal.test(read.test(0));
    for (std::size_t a = 0; a < network.local_agents().size(); ++a) {
        const int number = members.number(network.local_agents()[a]);
        local.agents.push_back(deal.agent(shards[static_cast<std::size_t>(number)],
                                          shared ? shared : deal.test(read.test(a))));
    }
    const std::size_t dealt = std::accumulate(
        shards.begin(), shards.end(), std::size_t{0}, [](std::size_t sum, const auto& shard) {
            return sum + shard.size();
        });
    local.description = fmt::format("{}, {} training records, partition {}",
                                    config.data,
                                    dealt,
                                    name_of(partition_of(config, local.shape.target)));
}

void deal_own(const TaskConfig& config, FittedData read, const Scaling& scaling, LocalData& local) {
    for (std::size_t a = 0; a < read.sets.size(); ++a) {
        const Deal deal(std::move(read.sets[a]), config, scaling);
        local.agents.push_back(deal.agent(deal.train(), deal.test(read.test(a))));
    }
    local.description = fmt::format("{} (one file an agent)", config.data);
    if (local.shape.target == Target::label)
        local.statements.emplace_back(
            "All agents learn which labels occur in an agent's files, so that they agree on the "
            "classes; this is taken as public and not counted.");
    if (local.shape.table)
        local.statements.emplace_back(
            "All agents learn which columns of an agent's files have texts, and which texts occur "
            "in them, so that they agree on the features; this is taken as public and not "
            "counted.");
}

/// Process 0's history describes tables; what the agent's own privacy unit is, the agent decides.
void require_own_units(const TaskConfig& config, const DataShape& own) {
    if (!config.known_table) return;
    const std::string units = own.table ? own.table->unit : std::string();
    if (!own.table || config.known_table->unit != units)
        throw ConfigError(fmt::format(
            "unit-column: the run's history.json has \"{}\", this agent's own is \"{}\" (allowed: "
            "the history of the run as it was begun)",
            config.known_table->unit,
            units));
}

/// The shape of the data, or of those at the beginning of a resumed run.
DataShape with_known(DataShape shape, const TaskConfig& config) {
    if (config.known_table) shape.table = config.known_table;
    if (shape.table) {
        shape.features = std::ssize(feature_names(*shape.table, config.table.missing).names);
        shape.labels = shape.table->labels;
        for (std::size_t k = 0; k < shape.table->label_names.size(); ++k)
            shape.labels.push_back(static_cast<double>(k));
    }
    if (shape.table) return shape;
    if (!config.known_labels.empty()) shape.labels = config.known_labels;
    shape.features = std::max(shape.features, config.known_features);
    return shape;
}

/// What the ledger says of columns of numbers; nothing if they are not scaled.
std::optional<std::string> scaling_statement(const TaskConfig& config, const Scaling& scaling) {
    if (scaling.by_data())
        return one_file_an_agent(config)
                   ? "Every agent standardises columns of numbers by the mean and deviation of its "
                     "own training records. They are not sent, and adjacency agent covers them. "
                     "With a record adjacency they are not counted: a record moves them, and with "
                     "them all of the agent's gradients, and no epsilon here covers that "
                     "(--bounds scales at no cost)."
                   : "Columns of numbers are standardised by the mean and deviation of all "
                     "training records, which every rank reads. This is not counted: no epsilon "
                     "here covers what these numbers reveal about a record or an agent (--bounds "
                     "scales at no cost).";
    if (config.table.bounds.empty()) return std::nullopt;
    // The training says what came of it.
    if (config.standardise == Standardise::private_moments) return std::nullopt;
    return "Columns of numbers are cut to bounds that are public (--bounds) and scaled by them "
           "alone, which costs no privacy as long as nobody took the bounds from the data.";
}

std::string unit_statement(const std::string& column, bool own_files) {
    return fmt::format(
        "A record of the guarantee is everything that one value of the column \"{}\" has at one "
        "agent: its records' gradients are averaged and clipped as one.{}",
        column,
        own_files ? " Somebody with records at several agents loses privacy at each of them, which "
                    "the figures of single agents do not count."
                  : "");
}

/// @throws DataError for fewer than two classes.
void require_two_classes(const TaskConfig& config, const DataShape& shape) {
    if (shape.target == Target::label && shape.labels.size() < 2)
        throw DataError(fmt::format(
            "{}: all records are of one class, label {} (needed: training records of two labels or "
            "more, over all agents)",
            config.data,
            labels_text(shape.labels)));
}

}  // namespace

bool one_file_an_agent(const TaskConfig& config) { return differs_by_agent(config.data); }

LocalData read_local_data(const TaskConfig& config, Control& network, const Membership& members) {
    LocalData local;
    ReadData read = read_all(config, network, members, local.digests);
    DataOrder own_files;
    network.agree([&] { own_files = own_order(read, config); });
    const DataOrder order = agreed_order(network, own_files);
    DataShape own;
    network.agree([&] {
        require_one_file_an_agent(config, own_files, order, members.all);
        order_columns(read, config.known_table ? config.known_table->columns : order.columns);
        own = shape_of(read, config);
        require_own_units(config, own);
    });
    const DataShape shape = with_known(agreed_shape(network, own), config);
    network.agree([&] {
        require_two_classes(config, shape);
        local.shape = shape;
        const Scaling scaling(config, shape.table);
        local.own_tests = tests_differ(config, scaling);
        FittedData fits = fitted(std::move(read), shape, config);
        if (one_file_an_agent(config))
            deal_own(config, std::move(fits), scaling, local);
        else
            deal_shared(config, network, members, std::move(fits), scaling, local);
        if (const auto statement = scaling_statement(config, scaling))
            local.statements.push_back(*statement);
        if (!config.table.unit.empty())
            local.statements.push_back(
                unit_statement(shape.table->unit, one_file_an_agent(config)));
        local.file_names = own_file_names(config, members.all);
        local.understood = understood(config, local, members, network.local_agents());
    });
    return local;
}

namespace {

constexpr std::size_t most_classes_shown = 10;
constexpr int most_agents_shown = 12;

/// "predicts "readmitted" (2 classes: no, yes) from 13 columns (22 features)"
std::string prediction_text(const LocalData& local) {
    const TableShape& table = *local.shape.table;
    const std::string what =
        local.shape.target == Target::value
            ? "a number"
            : fmt::format("{} classes: {}",
                          local.classes(),
                          short_list(label_texts(local.shape.table, local.shape.labels)));
    const std::string column = table.threshold ? table.label_names.back() : table.label;
    return fmt::format("predicts \"{}\" ({}) from {} column{} ({} feature{})",
                       column,
                       what,
                       table.features.size(),
                       table.features.size() == 1 ? "" : "s",
                       local.shape.features,
                       local.shape.features == 1 ? "" : "s");
}

/// "7 of numbers: age, chol; 6 of categories: sex (2), cp (4)"
std::string columns_text(const TableShape& table) {
    std::vector<std::string> numbers, categories;
    for (const ColumnShape& feature : table.features) {
        if (feature.kind == ColumnShape::Kind::categories)
            categories.push_back(fmt::format("{} ({})", feature.name, feature.categories.size()));
        else
            numbers.push_back(feature.name);
    }
    std::string text;
    if (!numbers.empty())
        text = fmt::format("{} of numbers: {}", numbers.size(), short_list(numbers));
    if (!categories.empty())
        text += fmt::format("{}{} of categories: {}",
                            text.empty() ? "" : "; ",
                            categories.size(),
                            short_list(categories));
    return text;
}

/// ", 160 no, 101 yes", if there are few classes.
std::string class_counts(const Dataset& data, const LocalData& local) {
    if (local.shape.target == Target::value || local.shape.labels.size() > most_classes_shown)
        return {};
    const std::vector<std::string> names = label_texts(local.shape.table, local.shape.labels);
    std::string text;
    for (std::size_t place = 0; place < names.size(); ++place)
        text += fmt::format(", {} {}",
                            (data.labels.array() == class_at(place, names.size())).count(),
                            names[place]);
    return text;
}

}  // namespace

std::vector<std::string> label_texts(const std::optional<TableShape>& table,
                                     const LabelSet& labels) {
    if (table && !table->label_names.empty()) return table->label_names;
    std::vector<std::string> texts;
    for (const double label : labels) texts.push_back(fmt::format("{}", label));
    return texts;
}

std::vector<std::string> own_file_names(const TaskConfig& config, int agents) {
    if (!one_file_an_agent(config)) return {};
    const int known = is_pattern(config.data)
                          ? std::min(agents, static_cast<int>(matching_files(config.data).size()))
                          : agents;
    std::vector<std::string> names(static_cast<std::size_t>(agents));
    for (int u = 0; u < known; ++u) {
        std::vector<std::string> files = listed_files(config.data, u);
        for (std::string& file : files) file = std::filesystem::path(file).filename().string();
        names[static_cast<std::size_t>(u)] = fmt::format("{}", fmt::join(files, " and "));
    }
    return names;
}

std::vector<std::string> understood(const TaskConfig& config,
                                    const LocalData& local,
                                    const Membership& members,
                                    std::span<const int> local_agents) {
    std::vector<std::string> lines;
    if (local.shape.table) lines = {prediction_text(local), columns_text(*local.shape.table)};
    if (!one_file_an_agent(config)) return lines;
    const int shown = std::min(members.size(), most_agents_shown);
    for (int place = 0; place < shown; ++place) {
        const int number = members.number(place);
        std::string line = fmt::format(
            "agent {} is {}", number, local.file_names[static_cast<std::size_t>(number)]);
        if (const auto here = std::ranges::find(local_agents, place); here != local_agents.end()) {
            const AgentData& agent =
                local.agents[static_cast<std::size_t>(here - local_agents.begin())];
            line += fmt::format(": {} records{} to train{}; {} to test",
                                agent.shard.records(),
                                agent.units.empty() ? std::string()
                                                    : fmt::format(" ({} values of {})",
                                                                  agent.units.size(),
                                                                  local.shape.table->unit),
                                class_counts(agent.shard, local),
                                agent.test->records());
        }
        lines.push_back(std::move(line));
    }
    if (shown < members.size())
        lines.push_back(fmt::format("and {} more agents", members.size() - shown));
    return lines;
}

}  // namespace sotto
