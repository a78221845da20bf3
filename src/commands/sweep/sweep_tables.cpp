#include "commands/sweep/sweep_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto {

namespace {

/// RFC 4180.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') quoted += c;
    }
    return quoted + "\"";
}

std::string field(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

std::string line_of(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? "," : "") + fields[i];
    return line + "\n";
}

std::string column_of(std::string option) {
    std::ranges::replace(option, '-', '_');
    return option;
}

/// The option of this name may be a column too.
std::string column_of_metric(const std::string& metric) {
    return metric == "epsilon" ? "epsilon_spent" : metric;
}

void add_once(std::vector<std::string>& names, const OptionValues& values) {
    for (const auto& [name, value] : values)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Options that are columns: those that vary, then those chosen.
struct Columns {
    explicit Columns(const SweepResult& result) {
        for (const SweepCell& cell : result.cells) {
            add_once(varied, cell.varied);
            for (const OptionValues& candidate : cell.candidates) add_once(chosen, candidate);
        }
    }
    void add_header(std::vector<std::string>& fields) const {
        fields.emplace_back("variant");
        for (const auto* names : {&varied, &chosen})
            for (const std::string& name : *names) fields.push_back(column_of(name));
    }
    /// @param candidate none: blanks for what is chosen.
    void add(std::vector<std::string>& fields,
             const SweepCell& cell,
             std::optional<std::size_t> candidate) const {
        static const OptionValues nothing;
        fields.push_back(field(cell.variant));
        const OptionValues& tried = candidate ? cell.candidates.at(*candidate) : nothing;
        for (const auto* names : {&varied, &chosen})
            for (const std::string& name : *names) {
                const std::string* value = value_of(cell.fixed, name);
                if (value == nullptr) value = value_of(tried, name);
                fields.push_back(value != nullptr ? field(*value) : "");
            }
    }
    std::vector<std::string> varied, chosen;
};

}  // namespace

std::string cells_csv(const SweepConfig& config, const SweepResult& result) {
    const Columns columns(result);
    std::vector<std::string> fields;
    columns.add_header(fields);
    fields.insert(fields.end(), {"at_edge", "seeds"});
    for (const std::string& status : sweep_statuses.names()) fields.push_back(status);
    for (const std::string& metric : sweep_metrics()) {
        fields.push_back(column_of_metric(metric));
        fields.push_back(column_of_metric(metric) + "_half_width");
    }
    std::string text = line_of(fields);
    for (std::size_t c = 0; c < result.cells.size(); ++c) {
        const CellResult& cell = result.results[c];
        fields.clear();
        columns.add(fields, result.cells[c], cell.candidate);
        fields.emplace_back(cell.at_edge ? "yes" : "no");
        fields.push_back(std::to_string(config.seeds.size()));
        for (const std::string& status : sweep_statuses.names())
            fields.push_back(std::to_string(count_of(cell, status)));
        for (const std::string& metric : sweep_metrics()) {
            const auto mean = mean_of(cell, metric);
            fields.push_back(mean ? field(mean->mean) : "");
            fields.push_back(mean ? field(mean->half_width) : "");
        }
        text += line_of(fields);
    }
    return text;
}

std::string trainings_csv(const SweepConfig& config, const SweepResult& result) {
    const Columns columns(result);
    std::vector<std::string> fields;
    columns.add_header(fields);
    fields.insert(fields.end(), {"seed", "purpose", "status"});
    for (const std::string& metric : sweep_metrics()) fields.push_back(column_of_metric(metric));
    fields.insert(fields.end(), {"seconds", "run_directory", "error"});
    std::string text = line_of(fields);
    for (std::size_t c = 0; c < result.cells.size(); ++c)
        for (const auto* rows : {&result.results[c].validation, &result.results[c].test})
            for (const SweepRow& row : *rows) {
                fields.clear();
                columns.add(fields, result.cells[c], row.training.candidate);
                fields.push_back(field(row.training.seed));
                fields.emplace_back(row.training.validation ? "validation" : "test");
                fields.emplace_back(status_of(row));
                for (const std::string& metric : sweep_metrics()) {
                    const bool has = row.outcome && row.outcome->metrics.contains(metric);
                    fields.push_back(has ? field(row.outcome->metrics.at(metric)) : "");
                }
                fields.push_back(row.outcome ? field(row.outcome->seconds) : "");
                fields.push_back(config.keep_runs && row.outcome ? "runs/" + row.training.key : "");
                fields.push_back(row.outcome ? field(row.outcome->error) : "");
                text += line_of(fields);
            }
    return text;
}

}  // namespace sotto
