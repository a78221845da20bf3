#include "sotto/plan/noise_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

class PlanCheck {
  public:
    explicit PlanCheck(const NoisePlan& plan) : plan_(plan) {}

    void run() const {
        require(plan_.agents >= 1, fmt::format("agents is {}, must be at least 1", plan_.agents));
        require(plan_.coalition_size >= 0 && plan_.coalition_size < plan_.agents,
                fmt::format("coalition_size is {}, must be in [0, {}]",
                            plan_.coalition_size,
                            plan_.agents - 1));
        require(
            plan_.grid_step_log2 >= -1000 && plan_.grid_step_log2 <= 1000,
            fmt::format("grid_step_log2 is {}, must be in [-1000, 1000]", plan_.grid_step_log2));
        if (plan_.noiseless()) {
            require(plan_.scale == 0 && plan_.rows.empty(),
                    "it has no streams but a scale or rows");
        } else {
            require(plan_.scale > 0 && std::isfinite(plan_.scale),
                    fmt::format("scale is {}, must be finite and above 0", plan_.scale));
        }
        std::int64_t members = 0;
        for (const auto& group : plan_.groups) members += std::ssize(group.members);
        require(
            members <= most_group_members(plan_.agents),
            fmt::format("its seed groups have {} members, at most {} are possible with {} agents",
                        members,
                        most_group_members(plan_.agents),
                        plan_.agents));
        for (const auto& group : plan_.groups) check_group(group);
        for (const auto& stream : plan_.streams)
            require(
                stream.group >= 0 && stream.group < static_cast<int>(plan_.groups.size()),
                fmt::format("a stream derives from group {}, which does not exist", stream.group));
        for (const auto& stream : plan_.streams)
            require(stream.distribution == plan_.distribution(),
                    "some of its streams are Gaussian and some Laplace");
        check_streams_are_distinct();
        for (const auto& row : plan_.rows) check_row(row);
        check_grid();
        for (std::size_t i = 1; i < plan_.rows.size(); ++i) check_order(i);
        check_temporal_factor();
    }

  private:
    static void require(bool condition, const std::string& reason) {
        if (!condition) throw PrivacyError("noise plan: " + reason);
    }

    void check_group(const SeedGroup& group) const {
        require(!group.members.empty(), "a seed group has no members");
        for (std::size_t i = 0; i < group.members.size(); ++i) {
            require(
                group.members[i] >= 0 && group.members[i] < plan_.agents,
                fmt::format(
                    "a seed group names agent {}, there are {}", group.members[i], plan_.agents));
            require(i == 0 || group.members[i - 1] < group.members[i],
                    "members of a seed group are not ascending");
        }
    }

    // Streams with the same seed and index would count the same noise twice.
    void check_streams_are_distinct() const {
        std::vector<std::pair<int, std::uint64_t>> addresses;
        addresses.reserve(plan_.streams.size());
        for (const auto& stream : plan_.streams) addresses.emplace_back(stream.group, stream.index);
        std::sort(addresses.begin(), addresses.end());
        require(std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end(),
                "two streams have the same seed group and index");
    }

    // On a finer grid noise could not be rounded: a double has 2^52 steps on either side.
    void check_grid() const {
        const double finest = finest_grid_step(plan_);
        require(
            plan_.grid_step() >= finest,
            fmt::format("grid_step_log2 is {}, which is too fine: a step must be at least {:.3g}, "
                        "for noise whose largest standard deviation is {:.3g}",
                        plan_.grid_step_log2,
                        finest,
                        largest_deviation(plan_)));
    }

    void check_row(const NoiseRow& row) const {
        require(row.sender >= 0 && row.sender < plan_.agents,
                fmt::format("a row has sender {}, there are {} agents", row.sender, plan_.agents));
        require(
            row.receiver >= NoiseRow::all_receivers && row.receiver < plan_.agents,
            fmt::format("a row has receiver {}, there are {} agents", row.receiver, plan_.agents));
        require(row.streams.size() == row.coefficients.size(),
                fmt::format("the row of agent {} has {} streams but {} coefficients",
                            row.sender,
                            row.streams.size(),
                            row.coefficients.size()));
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const int stream = row.streams[j];
            require(stream >= 0 && stream < static_cast<int>(plan_.streams.size()),
                    fmt::format("the row of agent {} names stream {}, which does not exist",
                                row.sender,
                                stream));
            require(j == 0 || row.streams[j - 1] < stream,
                    fmt::format("streams of agent {} are not ascending", row.sender));
            require(std::isfinite(row.coefficients[j]),
                    fmt::format("a coefficient of agent {} is not finite", row.sender));
            const auto& members = plan_
                                      .groups[static_cast<std::size_t>(
                                          plan_.streams[static_cast<std::size_t>(stream)].group)]
                                      .members;
            require(std::binary_search(members.begin(), members.end(), row.sender),
                    fmt::format(
                        "agent {} adds stream {} but does not hold its seed", row.sender, stream));
        }
    }

    void check_order(std::size_t i) const {
        const auto& before = plan_.rows[i - 1];
        const auto& row = plan_.rows[i];
        require(before.sender < row.sender ||
                    (before.sender == row.sender && before.receiver < row.receiver),
                "rows are not ascending by (sender, receiver)");
        require(before.sender != row.sender || before.receiver != NoiseRow::all_receivers,
                fmt::format("agent {} has a row for all receivers and another one", row.sender));
    }

    void check_temporal_factor() const {
        const auto& factor = plan_.temporal;
        if (factor.kind == TemporalFactor::Kind::identity) {
            require(factor.lower.size() == 0,
                    "the temporal factor is the identity but holds numbers");
            return;
        }
        require(factor.lower.size() > 0 && factor.lower.allFinite(),
                "the temporal factor is empty or not finite");
        const bool dense = factor.kind == TemporalFactor::Kind::dense;
        require(!dense || factor.lower.rows() == factor.lower.cols(),
                "a dense temporal factor must be square");
        require(factor.kind != TemporalFactor::Kind::one_lag || factor.lower.cols() == 2,
                "a temporal factor with one lag must have two columns");
        for (Eigen::Index t = 0; t < factor.lower.rows(); ++t) {
            const double diagonal = dense ? factor.lower(t, t) : factor.lower(t, 0);
            require(diagonal > 0,
                    fmt::format("the temporal factor's diagonal is {} at round {}", diagonal, t));
        }
        if (dense)
            require(factor.lower.isLowerTriangular(0.0),
                    "the temporal factor is not lower triangular");
    }

    const NoisePlan& plan_;
};

}  // namespace

void NoisePlan::validate() const { PlanCheck(*this).run(); }

bool NoisePlan::same_message_to_all() const {
    return std::all_of(rows.begin(), rows.end(), [](const NoiseRow& row) {
        return row.receiver == NoiseRow::all_receivers;
    });
}

StreamDistribution NoisePlan::distribution() const {
    return streams.empty() ? StreamDistribution::gaussian : streams.front().distribution;
}

int NoisePlan::streams_per_agent() const {
    std::vector<std::vector<int>> drawn(static_cast<std::size_t>(agents));
    for (const auto& row : rows) {
        auto& streams_of_sender = drawn[static_cast<std::size_t>(row.sender)];
        streams_of_sender.insert(streams_of_sender.end(), row.streams.begin(), row.streams.end());
    }
    std::size_t largest = 0;
    for (auto& list : drawn) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        largest = std::max(largest, list.size());
    }
    return static_cast<int>(largest);
}

double NoisePlan::grid_step() const { return std::ldexp(1.0, grid_step_log2); }

Eigen::MatrixXd NoisePlan::coefficient_matrix() const {
    Eigen::MatrixXd matrix =
        Eigen::MatrixXd::Zero(agents, static_cast<Eigen::Index>(streams.size()));
    for (const auto& row : rows) {
        if (row.receiver != NoiseRow::all_receivers) continue;
        for (std::size_t j = 0; j < row.streams.size(); ++j)
            matrix(row.sender, row.streams[j]) = row.coefficients[j];
    }
    return matrix;
}

NoisePlan with_streams(NoisePlan plan, const std::function<bool(int stream)>& wanted) {
    for (NoiseRow& row : plan.rows) {
        const NoiseRow all = std::exchange(row, {row.sender, row.receiver, {}, {}});
        for (std::size_t j = 0; j < all.streams.size(); ++j) {
            if (!wanted(all.streams[j])) continue;
            row.streams.push_back(all.streams[j]);
            row.coefficients.push_back(all.coefficients[j]);
        }
    }
    return plan;
}

Digest NoisePlan::hash() const {
    Hasher hasher("sotto.plan.v1");
    hasher.add(mechanism).add(std::int64_t{agents}).add(scale).add(std::int64_t{grid_step_log2});
    hasher.add(std::int64_t{coalition_size});
    hasher.add(static_cast<std::int64_t>(temporal.kind));
    hasher.add(std::int64_t{temporal.lower.rows()}).add(std::int64_t{temporal.lower.cols()});
    hasher.add(std::span(temporal.lower.data(), static_cast<std::size_t>(temporal.lower.size())));
    hasher.add(static_cast<std::int64_t>(entry)).add(static_cast<std::int64_t>(aggregation));
    hasher.add(static_cast<std::int64_t>(groups.size()));
    for (const auto& group : groups) {
        hasher.add(static_cast<std::int64_t>(group.members.size()));
        for (const int member : group.members) hasher.add(std::int64_t{member});
    }
    hasher.add(static_cast<std::int64_t>(streams.size()));
    for (const auto& stream : streams) {
        hasher.add(std::int64_t{stream.group}).add(static_cast<std::int64_t>(stream.index));
        hasher.add(static_cast<std::int64_t>(stream.distribution));
    }
    hasher.add(static_cast<std::int64_t>(rows.size()));
    for (const auto& row : rows) {
        hasher.add(std::int64_t{row.sender}).add(std::int64_t{row.receiver});
        hasher.add(static_cast<std::int64_t>(row.streams.size()));
        for (const int stream : row.streams) hasher.add(std::int64_t{stream});
        hasher.add(std::span<const double>(row.coefficients));
    }
    return hasher.finish();
}

std::int64_t most_group_members(int agents) { return 4 * std::int64_t{agents} * agents + 4096; }

std::uint64_t largest_plan_bytes(int agents, double coefficients, double temporal_values) {
    constexpr double number = 32;    // including separators
    constexpr double element = 128;  // keys of a stream or a row
    constexpr double head = 4096;
    const double n = agents;
    const auto members = static_cast<double>(most_group_members(agents));
    const double streams = members + n * n;
    const double bytes = head + number * (members + temporal_values) +
                         element * (streams + n * n + n) + 2 * number * (streams + coefficients);
    return static_cast<std::uint64_t>(std::min(bytes, 0x1p62));
}

double largest_deviation(const NoisePlan& plan) {
    double largest = 0;
    for (const auto& row : plan.rows) {
        double squared = 0;
        for (const double coefficient : row.coefficients) squared += coefficient * coefficient;
        largest = std::max(largest, squared * unit_variance(plan.distribution()));
    }
    return plan.scale * std::sqrt(largest);
}

NoisePlan scaled(NoisePlan plan, double factor) {
    plan.scale *= factor;
    plan.grid_step_log2 += static_cast<int>(std::floor(std::log2(factor)));
    return plan;
}

double finest_grid_step(const NoisePlan& plan) {
    const int longer = plan.distribution() == StreamDistribution::laplace ? 3 : 0;
    return std::ldexp(largest_deviation(plan), finest_grid_log2 + longer);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr NameTable<TemporalFactor::Kind, 4> temporal_kinds{
    {{{TemporalFactor::Kind::identity, "identity"},
      {TemporalFactor::Kind::dense, "dense"},
      {TemporalFactor::Kind::banded, "banded"},
      {TemporalFactor::Kind::one_lag, "one-lag"}}}};

Json matrix_to_json(const Eigen::MatrixXd& matrix) {
    Json result = Json::array();
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
        Json row = Json::array();
        for (Eigen::Index j = 0; j < matrix.cols(); ++j) row.push_back(matrix(i, j));
        result.push_back(std::move(row));
    }
    return result;
}

Eigen::MatrixXd matrix_from_json(const JsonValue& json) {
    std::vector<std::vector<double>> rows;
    for (const JsonValue& row : json.items()) rows.push_back(row.numbers());
    // Checked before allocation, against one long row and many empty ones.
    for (const auto& row : rows)
        if (row.size() != rows.front().size())
            throw DataError("rows of the temporal factor differ in length");
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()),
                           rows.empty() ? 0 : static_cast<Eigen::Index>(rows.front().size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows[i].size(); ++j)
            matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
    }
    return matrix;
}

NoisePlan parse(const JsonDocument& document) {
    document.require_format("sotto-plan", 1);
    const JsonValue json = document.root();
    NoisePlan plan;
    plan.mechanism = json.at("mechanism").text();
    plan.agents = json.at("agents").integer<int>();
    plan.scale = json.at("scale").number();
    plan.coalition_size = json.at("coalition_size").integer<int>();
    plan.grid_step_log2 = json.at("grid_step_log2").integer<int>();
    plan.temporal.kind = temporal_kinds.parse("kind", json.at("temporal").at("kind").text());
    plan.temporal.lower = matrix_from_json(json.at("temporal").at("lower"));
    plan.entry = noise_entries.parse("entry", json.at("entry").text());
    plan.aggregation = aggregations.parse("aggregation", json.at("aggregation").text());
    for (const JsonValue& group : json.at("seed_groups").items())
        plan.groups.push_back({group.integers()});
    for (const JsonValue& stream : json.at("streams").items())
        plan.streams.push_back(
            {stream.at("group").integer<int>(),
             stream.at("index").integer<std::uint64_t>(),
             stream_distributions.parse("distribution", stream.at("distribution").text())});
    for (const JsonValue& row : json.at("rows").items())
        plan.rows.push_back({row.at("sender").integer<int>(),
                             row.at("receiver").integer<int>(),
                             row.at("streams").integers(),
                             row.at("coefficients").numbers()});
    return plan;
}

}  // namespace

std::string to_json(const NoisePlan& plan) {
    Json json;
    json["format"] = "sotto-plan";
    json["version"] = 1;
    json["mechanism"] = plan.mechanism;
    json["agents"] = plan.agents;
    json["scale"] = plan.scale;
    json["coalition_size"] = plan.coalition_size;
    json["grid_step_log2"] = plan.grid_step_log2;
    json["temporal"] = {{"kind", temporal_kinds.name_of(plan.temporal.kind)},
                        {"lower", matrix_to_json(plan.temporal.lower)}};
    json["entry"] = noise_entries.name_of(plan.entry);
    json["aggregation"] = aggregations.name_of(plan.aggregation);
    json["seed_groups"] = Json::array();
    for (const auto& group : plan.groups) json["seed_groups"].push_back(group.members);
    json["streams"] = Json::array();
    for (const auto& stream : plan.streams)
        json["streams"].push_back(
            {{"group", stream.group},
             {"index", stream.index},
             {"distribution", stream_distributions.name_of(stream.distribution)}});
    json["rows"] = Json::array();
    for (const auto& row : plan.rows)
        json["rows"].push_back({{"sender", row.sender},
                                {"receiver", row.receiver},
                                {"streams", row.streams},
                                {"coefficients", row.coefficients}});
    return json.dump() + "\n";
}

NoisePlan plan_from_json(std::string_view text, const std::string& source) {
    const auto told = [&](const Error& error) {
        return fmt::format("{}: not a noise plan ({})", source, error.what());
    };
    NoisePlan plan;
    try {
        plan = parse(JsonDocument(text));
    } catch (const Error& error) {
        throw DataError(told(error));
    }
    try {
        plan.validate();
    } catch (const Error& error) {
        throw_error(error.exit_code(), told(error));
    }
    return plan;
}

}  // namespace sotto
