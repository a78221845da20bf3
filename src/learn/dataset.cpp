#include "sotto/learn/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <span>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

/// Features of grey values, looked up since images are converted for every model.
constexpr std::array<double, 256> grey = [] {
    std::array<double, 256> features{};
    for (std::size_t value = 0; value < features.size(); ++value)
        features[value] = static_cast<double>(value) / 255.0;
    return features;
}();

/// An empty compressed matrix with capacity for `values`. @throws DataError if the 32-bit offsets
/// cannot count them.
SparseRows sparse_rows(Eigen::Index rows, Eigen::Index columns, Eigen::Index values) {
    if (values > std::numeric_limits<int>::max())
        throw DataError(fmt::format("data set of {} values: at most {} are supported",
                                    values,
                                    std::numeric_limits<int>::max()));
    SparseRows matrix(rows, columns);
    matrix.resizeNonZeros(values);
    return matrix;
}

void append_rows(SparseRows& matrix,
                 Eigen::Index written,
                 const SparseRows& source,
                 Eigen::Index first,
                 Eigen::Index count) {
    const int* starts = source.outerIndexPtr() + first;
    int* target = matrix.outerIndexPtr() + written;
    std::copy(source.innerIndexPtr() + starts[0],
              source.innerIndexPtr() + starts[count],
              matrix.innerIndexPtr() + target[0]);
    std::copy(source.valuePtr() + starts[0],
              source.valuePtr() + starts[count],
              matrix.valuePtr() + target[0]);
    for (Eigen::Index row = 0; row < count; ++row)
        target[row + 1] = target[row] + (starts[row + 1] - starts[row]);
}

void require_row(const Dataset& data, Eigen::Index row) {
    if (row < 0 || row >= data.records())
        throw DataError(fmt::format(
            "{}: row {} was asked for, rows are 0 to {}", data.source, row, data.records() - 1));
}

SparseRows stacked_sparse(const std::vector<Dataset>& parts, Eigen::Index records) {
    Eigen::Index columns = 0, values = 0;
    for (const Dataset& part : parts) {
        columns = std::max(columns, part.feature_count());
        values += part.features.nonZeros();
    }
    SparseRows result = sparse_rows(records, columns, values);
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        append_rows(result, written, part.features, 0, part.records());
        written += part.records();
    }
    return result;
}

template <class Rows>
Rows stacked_dense(const std::vector<Dataset>& parts, Eigen::Index records) {
    Rows result(records, parts.front().feature_count());
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        result.middleRows(written, part.records()) = std::get<Rows>(*part.dense);
        written += part.records();
    }
    return result;
}

/// Data sets of different kinds cannot be concatenated.
std::size_t kind_of(const Dataset& data) { return data.dense ? 1 + data.dense->index() : 0; }

void require_same_format(const Dataset& first, const Dataset& other) {
    if (kind_of(first) != kind_of(other) || first.target != other.target)
        throw DataError(fmt::format("{} and {} are of different formats and cannot be one data set",
                                    first.source,
                                    other.source));
}

void require_same_kind(const Dataset& first, const Dataset& other) {
    if (first.dense &&
        (first.feature_count() != other.feature_count() || first.image_rows != other.image_rows))
        throw DataError(fmt::format("{} has {} features, {} has {}",
                                    first.source,
                                    first.feature_count(),
                                    other.source,
                                    other.feature_count()));
    if (first.writers.empty() != other.writers.empty())
        throw DataError(fmt::format(
            "only one of {} and {} says who wrote its records", first.source, other.source));
}

}  // namespace

Eigen::Index Dataset::feature_count() const {
    if (!dense) return features.cols();
    return std::visit([](const auto& rows) { return rows.cols(); }, *dense);
}

Dataset concatenate(std::vector<Dataset> parts) {
    if (parts.empty()) throw DataError("concatenate: needs at least one data set");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        require_same_format(parts.front(), parts[i]);
        require_same_kind(parts.front(), parts[i]);
    }
    Dataset result;
    result.target = parts.front().target;
    result.image_rows = parts.front().image_rows;
    Eigen::Index records = 0;
    int writers = 0;
    for (const Dataset& part : parts) {
        records += part.records();
        result.source += (result.source.empty() ? "" : " + ") + part.source;
        int largest = -1;
        for (const int writer : part.writers) {
            result.writers.push_back(writers + writer);
            largest = std::max(largest, writer);
        }
        writers += largest + 1;
    }
    if (!parts.front().dense)
        result.features = stacked_sparse(parts, records);
    else if (std::holds_alternative<PixelRows>(*parts.front().dense))
        result.dense = stacked_dense<PixelRows>(parts, records);
    else
        result.dense = stacked_dense<RealRows>(parts, records);
    result.labels.resize(records);
    Eigen::Index written = 0;
    for (const Dataset& part : parts) {
        result.labels.segment(written, part.records()) = part.labels;
        written += part.records();
    }
    return result;
}

Dataset select_rows(const Dataset& data, std::span<const Eigen::Index> rows) {
    Dataset result;
    result.source = data.source;
    result.target = data.target;
    result.image_rows = data.image_rows;
    const auto count = static_cast<Eigen::Index>(rows.size());
    result.labels.resize(count);
    Eigen::Index values = 0;
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::Index row = rows[static_cast<std::size_t>(i)];
        require_row(data, row);
        result.labels[i] = data.labels[row];
        if (!data.writers.empty())
            result.writers.push_back(data.writers[static_cast<std::size_t>(row)]);
        if (!data.dense)
            values += data.features.outerIndexPtr()[row + 1] - data.features.outerIndexPtr()[row];
    }
    if (data.dense) {
        std::visit(
            [&]<class Rows>(const Rows& source) {
                Rows chosen(count, source.cols());
                for (Eigen::Index i = 0; i < count; ++i)
                    chosen.row(i) = source.row(rows[static_cast<std::size_t>(i)]);
                result.dense = std::move(chosen);
            },
            *data.dense);
        return result;
    }
    result.features = sparse_rows(count, data.feature_count(), values);
    for (Eigen::Index i = 0; i < count; ++i)
        append_rows(result.features, i, data.features, rows[static_cast<std::size_t>(i)], 1);
    return result;
}

Dataset widened(Dataset data, Eigen::Index features) {
    if (data.feature_count() >= features) return data;
    if (data.dense)
        throw DataError(fmt::format("{}: {} features where other data have {}",
                                    data.source,
                                    data.feature_count(),
                                    features));
    data.features.conservativeResize(data.features.rows(), features);
    return data;
}

Dataset with_sparse_features(Dataset data) {
    if (!data.dense) return data;
    Eigen::MatrixXd columns(data.feature_count(), data.records());
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(data.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    copy_features(data, rows, columns);
    data.features = SparseRows(columns.transpose().sparseView());
    data.features.makeCompressed();
    data.dense.reset();
    return data;
}

void copy_features(const Dataset& data,
                   std::span<const Eigen::Index> rows,
                   Eigen::Ref<Eigen::MatrixXd> out) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
        const Eigen::Index row = rows[j];
        require_row(data, row);
        auto column = out.col(static_cast<Eigen::Index>(j));
        if (!data.dense) {
            column.setZero();
            for (SparseRows::InnerIterator entry(data.features, row); entry; ++entry)
                column[entry.col()] = entry.value();
        } else if (const auto* pixels = std::get_if<PixelRows>(&*data.dense)) {
            const std::uint8_t* const values = &pixels->coeff(row, 0);
            for (Eigen::Index k = 0; k < column.size(); ++k) column[k] = grey[values[k]];
        } else {
            column = std::get<RealRows>(*data.dense).row(row).transpose();
        }
    }
}

Eigen::VectorXd mean_features(const Dataset& data, std::span<const Eigen::Index> rows) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(data.feature_count());
    Eigen::VectorXd one(sum.size());
    for (const Eigen::Index row : rows) {
        copy_features(data, {&row, 1}, one);
        sum += one;
    }
    if (!rows.empty()) sum /= static_cast<double>(rows.size());
    return sum;
}

namespace {

using Rows = std::vector<Eigen::Index>;

const std::vector<std::string>& partition_names() {
    static const std::vector<std::string> names{
        "iid", "dirichlet:ALPHA", "by-label:k", "by-writer:k"};
    return names;
}

/// Part `index` of `parts` of nearly equal size: [first, second).
std::pair<std::size_t, std::size_t> equal_part(std::size_t count,
                                               std::size_t parts,
                                               std::size_t index) {
    const auto cut = [&](std::size_t i) { return count / parts * i + std::min(i, count % parts); };
    return {cut(index), cut(index + 1)};
}

/// One draw of Dirichlet(alpha, ..., alpha). Gamma variates are kept as logarithms, since for small
/// alpha most underflow: Gamma(alpha) = Gamma(alpha + 1) U^(1/alpha).
std::vector<double> dirichlet_shares(std::size_t count, double alpha, SeededRandom& random) {
    std::vector<double> shares(count);
    double largest = -infinity;
    for (double& share : shares) {
        share = std::log(random.gamma(alpha + 1)) + std::log(1 - random.uniform()) / alpha;
        largest = std::max(largest, share);
    }
    double total = 0;
    for (double& share : shares) total += share = std::exp(share - largest);
    for (double& share : shares) share /= total;
    return shares;
}

std::map<double, Rows> rows_by_label(std::span<const Eigen::Index> rows,
                                     const Eigen::VectorXd& labels,
                                     SeededRandom& random) {
    std::map<double, Rows> groups;
    for (const Eigen::Index row : rows) groups[labels[row]].push_back(row);
    for (auto& [label, members] : groups) random.shuffle(members);
    return groups;
}

void deal_iid(std::span<const Eigen::Index> rows, std::vector<Rows>& shards, SeededRandom& random) {
    Rows order(rows.begin(), rows.end());
    random.shuffle(order);
    for (std::size_t agent = 0; agent < shards.size(); ++agent) {
        const auto [first, last] = equal_part(order.size(), shards.size(), agent);
        shards[agent].assign(order.begin() + static_cast<std::ptrdiff_t>(first),
                             order.begin() + static_cast<std::ptrdiff_t>(last));
    }
}

void deal_dirichlet(const std::map<double, Rows>& groups,
                    double alpha,
                    std::vector<Rows>& shards,
                    SeededRandom& random) {
    for (const auto& [label, members] : groups) {
        const std::vector<double> shares = dirichlet_shares(shards.size(), alpha, random);
        const auto count = static_cast<double>(members.size());
        double before = 0;
        std::size_t first = 0;
        for (std::size_t agent = 0; agent < shards.size(); ++agent) {
            before += shares[agent];
            const bool last_agent = agent + 1 == shards.size();
            const std::size_t last =
                last_agent ? members.size()
                           : std::min(members.size(),
                                      static_cast<std::size_t>(std::llround(before * count)));
            for (; first < last; ++first) shards[agent].push_back(members[first]);
        }
    }
}

void deal_by_label(const std::map<double, Rows>& groups,
                   std::size_t runs_per_agent,
                   std::vector<Rows>& shards,
                   SeededRandom& random) {
    Rows sorted;
    for (const auto& [label, members] : groups)
        sorted.insert(sorted.end(), members.begin(), members.end());
    std::vector<std::size_t> runs(shards.size() * runs_per_agent);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i] = i;
    random.shuffle(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto [first, last] = equal_part(sorted.size(), runs.size(), runs[i]);
        Rows& shard = shards[i / runs_per_agent];
        shard.insert(shard.end(),
                     sorted.begin() + static_cast<std::ptrdiff_t>(first),
                     sorted.begin() + static_cast<std::ptrdiff_t>(last));
    }
}

void deal_by_writer(std::span<const Eigen::Index> rows,
                    std::span<const int> writers,
                    std::size_t writers_per_agent,
                    std::vector<Rows>& shards,
                    SeededRandom& random) {
    std::map<int, Rows> of_writer;
    for (const Eigen::Index row : rows)
        of_writer[writers[static_cast<std::size_t>(row)]].push_back(row);
    if (of_writer.size() / writers_per_agent < shards.size())
        throw DataError(fmt::format("{} writers: by-writer:{} with {} agents needs at least {}",
                                    of_writer.size(),
                                    writers_per_agent,
                                    shards.size(),
                                    writers_per_agent * shards.size()));
    std::vector<const Rows*> order;
    for (const auto& [writer, own] : of_writer) order.push_back(&own);
    random.shuffle(order);
    for (std::size_t i = 0; i < shards.size() * writers_per_agent; ++i) {
        Rows& shard = shards[i / writers_per_agent];
        shard.insert(shard.end(), order[i]->begin(), order[i]->end());
    }
}

/// Takes a record from the largest shard, of equal ones the first, for each empty one.
void give_every_agent_a_record(std::vector<Rows>& shards) {
    std::priority_queue<std::pair<std::size_t, std::ptrdiff_t>> sizes;  // and minus the place
    for (std::size_t agent = 0; agent < shards.size(); ++agent)
        sizes.emplace(shards[agent].size(), -static_cast<std::ptrdiff_t>(agent));
    for (Rows& shard : shards) {
        if (!shard.empty()) continue;
        const auto [size, place] = sizes.top();
        sizes.pop();
        Rows& largest = shards[static_cast<std::size_t>(-place)];
        shard.push_back(largest.back());
        largest.pop_back();
        sizes.emplace(size - 1, place);
    }
}

}  // namespace

PartitionSpec parse_partition(std::string_view option, std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const bool has_value = colon != std::string_view::npos;
    const std::string_view value = has_value ? text.substr(colon + 1) : std::string_view();
    PartitionSpec spec;
    if (kind == "iid" && !has_value) {
        spec.kind = PartitionSpec::Kind::iid;
    } else if (kind == "dirichlet" && has_value) {
        spec.kind = PartitionSpec::Kind::dirichlet;
        const std::string what = fmt::format("ALPHA of {} dirichlet:ALPHA", option);
        spec.alpha = parse_real(what, value);
        require_positive(what, spec.alpha);
    } else if (kind == "by-label" && has_value) {
        spec.kind = PartitionSpec::Kind::by_label;
        const std::string what = fmt::format("k of {} by-label:k", option);
        const long long runs = parse_integer(what, value);
        require_in_range(what, static_cast<double>(runs), 1, 1e6);
        spec.labels_per_agent = static_cast<int>(runs);
    } else if (kind == "by-writer") {
        spec.kind = PartitionSpec::Kind::by_writer;
        if (has_value) {
            const std::string what = fmt::format("k of {} by-writer:k", option);
            const long long writers = parse_integer(what, value);
            require_in_range(what, static_cast<double>(writers), 1, 1e6);
            spec.writers_per_agent = static_cast<int>(writers);
        }
    } else {
        throw unknown_name_error(option, text, partition_names());
    }
    return spec;
}

std::string name_of(const PartitionSpec& spec) {
    switch (spec.kind) {
        case PartitionSpec::Kind::iid:
            return "iid";
        case PartitionSpec::Kind::dirichlet:
            return fmt::format("dirichlet:{}", spec.alpha);
        case PartitionSpec::Kind::by_label:
            return fmt::format("by-label:{}", spec.labels_per_agent);
        case PartitionSpec::Kind::by_writer:
            return fmt::format("by-writer:{}", spec.writers_per_agent);
    }
    throw Error(ExitCode::other, "a partition kind has no name");
}

std::vector<Rows> partition_rows(std::span<const Eigen::Index> rows,
                                 const Eigen::VectorXd& labels,
                                 int agents,
                                 const PartitionSpec& spec,
                                 std::uint64_t seed,
                                 std::span<const int> writers) {
    if (agents < 1) throw ConfigError(fmt::format("{} agents: at least 1", agents));
    for (const Eigen::Index row : rows)
        if (row < 0 || row >= labels.size())
            throw DataError(
                fmt::format("partition: row {} is not one of 0 to {}", row, labels.size() - 1));
    const auto agent_count = static_cast<std::size_t>(agents);
    if (rows.size() < agent_count)
        throw DataError(
            fmt::format("{} records cannot be dealt to {} agents: every agent needs at least one",
                        rows.size(),
                        agents));

    std::vector<Rows> shards(agent_count);
    SeededRandom random(seed, "partition");
    switch (spec.kind) {
        case PartitionSpec::Kind::iid:
            deal_iid(rows, shards, random);
            break;
        case PartitionSpec::Kind::dirichlet:
            require_positive("dirichlet alpha", spec.alpha);
            deal_dirichlet(rows_by_label(rows, labels, random), spec.alpha, shards, random);
            break;
        case PartitionSpec::Kind::by_label: {
            require_in_range("labels per agent", spec.labels_per_agent, 1, 1e6);
            const auto runs_per_agent = static_cast<std::size_t>(spec.labels_per_agent);
            if (rows.size() / runs_per_agent < agent_count)
                throw DataError(fmt::format("{} records: {} with {} agents needs at least {}",
                                            rows.size(),
                                            name_of(spec),
                                            agents,
                                            runs_per_agent * agent_count));
            deal_by_label(rows_by_label(rows, labels, random), runs_per_agent, shards, random);
            break;
        }
        case PartitionSpec::Kind::by_writer:
            require_in_range("writers per agent", spec.writers_per_agent, 1, 1e6);
            if (static_cast<Eigen::Index>(writers.size()) != labels.size())
                throw DataError(fmt::format(
                    "partition {}: the data do not say who wrote each record (LEAF's do)",
                    name_of(spec)));
            deal_by_writer(
                rows, writers, static_cast<std::size_t>(spec.writers_per_agent), shards, random);
            break;
    }
    give_every_agent_a_record(shards);
    for (Rows& shard : shards) std::sort(shard.begin(), shard.end());
    return shards;
}

Split split_rows(Eigen::Index records, double test_fraction, std::uint64_t seed) {
    if (!(test_fraction > 0 && test_fraction < 1))
        throw ConfigError(
            fmt::format("test fraction {}: must be above 0 and below 1", test_fraction));
    if (records < 2)
        throw DataError(
            fmt::format("{} records: a split into training and test needs at least two", records));
    std::vector<Eigen::Index> order(static_cast<std::size_t>(records));
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    SeededRandom random(seed, "train-test-split");
    random.shuffle(order);
    const auto test_count = std::clamp<Eigen::Index>(
        std::llround(static_cast<double>(records) * test_fraction), 1, records - 1);
    Split split;
    split.test.assign(order.begin(), order.begin() + test_count);
    split.train.assign(order.begin() + test_count, order.end());
    std::sort(split.test.begin(), split.test.end());
    std::sort(split.train.begin(), split.train.end());
    return split;
}

namespace {

template <class Value>
std::span<const std::uint8_t> bytes_of(const Value* values, Eigen::Index count) {
    return {reinterpret_cast<const std::uint8_t*>(values),
            static_cast<std::size_t>(count) * sizeof(Value)};
}

void add_features(Hasher& hasher, const SparseRows& rows) {
    hasher.add("sparse").add_bytes(bytes_of(rows.outerIndexPtr(), rows.outerSize() + 1));
    hasher.add_bytes(bytes_of(rows.innerIndexPtr(), rows.nonZeros()));
    hasher.add_bytes(bytes_of(rows.valuePtr(), rows.nonZeros()));
}
void add_features(Hasher& hasher, const RealRows& rows) {
    hasher.add("real").add_bytes(bytes_of(rows.data(), rows.size()));
}
void add_features(Hasher& hasher, const PixelRows& rows) {
    hasher.add("grey").add_bytes(bytes_of(rows.data(), rows.size()));
}

}  // namespace

Digest digest_of_records(const Dataset& data) {
    Hasher hasher("sotto.records.v1");
    hasher.add(data.target == Target::value ? "values" : "labels");
    for (const Eigen::Index size : {data.records(), data.feature_count(), data.image_rows})
        hasher.add(std::int64_t{size});
    if (data.dense)
        std::visit([&](const auto& rows) { add_features(hasher, rows); }, *data.dense);
    else
        add_features(hasher, data.features);
    hasher.add_bytes(bytes_of(data.labels.data(), data.labels.size()));
    hasher.add_bytes(bytes_of(data.writers.data(), static_cast<Eigen::Index>(data.writers.size())));
    return hasher.finish();
}

}  // namespace sotto
