#include "sotto/graph/mixing_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "mixing_checks.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/text_input.hpp"
#include "text_tokens.hpp"

namespace sotto {
namespace {

constexpr NameTable<MixingRule, 6> rule_table{{{
    {MixingRule::metropolis, "metropolis"},
    {MixingRule::max_degree, "max-degree"},
    {MixingRule::lazy_metropolis, "lazy-metropolis"},
    {MixingRule::row_stochastic, "row-stochastic"},
    {MixingRule::push_sum, "push-sum"},
    {MixingRule::uniform, "uniform"},
}}};

bool is_npy(const std::string& path) {
    if (path.ends_with(".npy")) return true;
    constexpr std::string_view magic = "\x93NUMPY";
    std::string start(magic.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    return file && start == magic;
}

Eigen::MatrixXd read_text_matrix(const std::string& path, int agents, const std::string& name) {
    Eigen::MatrixXd matrix(agents, agents);
    int row = 0;
    LineReader reader(path);
    std::string_view line;
    while (reader.next(line)) {
        std::string_view rest = line;
        std::string_view token = take_token(rest);
        if (token.empty()) continue;
        if (row == agents)
            throw DataError(
                fmt::format("{}: line {} starts row {}, but the graph has {} agents; "
                            "it must hold {} rows",
                            name,
                            reader.line_number(),
                            row + 1,
                            agents,
                            agents));
        int column = 0;
        for (; !token.empty(); token = take_token(rest), ++column) {
            double value = 0;
            const char* last = token.data() + token.size();
            const auto [end, error] = std::from_chars(token.data(), last, value);
            if (error != std::errc() || end != last)
                throw DataError(fmt::format("{}: line {}, entry ({}, {}): \"{}\" is not a number",
                                            name,
                                            reader.line_number(),
                                            row,
                                            column,
                                            for_message(token)));
            if (column < agents) matrix(row, column) = value;
        }
        if (column != agents)
            throw DataError(
                fmt::format("{}: line {} (row {}) holds {} numbers, but the graph has "
                            "{} agents; give one number for each",
                            name,
                            reader.line_number(),
                            row,
                            column,
                            agents));
        ++row;
    }
    if (row != agents)
        throw DataError(fmt::format(
            "{}: {} rows, but the graph has {} agents; give one row for each", name, row, agents));
    return matrix;
}

}  // namespace

std::vector<std::string> mixing_names() { return rule_table.names(); }

MixingMatrix make_mixing(const Graph& graph, const std::string& rule_or_file) {
    for (const auto& [rule, name] : rule_table.entries)
        if (name == rule_or_file) return MixingMatrix::from_rule(graph, rule);

    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(rule_or_file, ignored);
    if (!std::filesystem::exists(status)) {
        const ConfigError unknown = unknown_name_error("mixing", rule_or_file, mixing_names());
        throw ConfigError(fmt::format("{} (and there is no such file)", unknown.what()));
    }
    const std::string name = "mixing file " + rule_or_file;
    if (!std::filesystem::is_regular_file(status))
        throw DataError(fmt::format("{}: is no file; give a .npy or text file", name));
    const Eigen::MatrixXd dense = is_npy(rule_or_file)
                                      ? read_npy(rule_or_file)
                                      : read_text_matrix(rule_or_file, graph.agents(), name);
    check_mixing(graph, dense, MixingKind::averaging, name);
    return MixingMatrix::from_dense(graph, dense);
}

}  // namespace sotto
