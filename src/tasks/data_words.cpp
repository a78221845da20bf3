#include "tasks/data_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "config/agent_path.hpp"

namespace sotto {

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

/// ", 160 no, 101 yes", where there are few classes.
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
            line += fmt::format(": {} records to train{}; {} to test",
                                agent.shard.records(),
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
