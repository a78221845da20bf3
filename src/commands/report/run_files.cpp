#include "commands/report/run_files.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/json_input.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

using Json = nlohmann::ordered_json;

namespace {

/// @throws DataError for a table without a line.
Json columns_of(const std::string& table, const std::string& source) {
    if (table.empty()) throw DataError(fmt::format("{}: it is empty", source));
    const auto lines = split(table, '\n');
    std::vector<std::string> names;
    Json columns = Json::object();
    for (const auto name : split(lines.front(), ','))
        columns[names.emplace_back(name)] = Json::array();
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        const auto cells = split(lines[i], ',');
        for (std::size_t c = 0; c < names.size(); ++c) {
            const Json value = c < cells.size() ? Json::parse(cells[c], nullptr, false) : Json();
            columns[names[c]].push_back(value.is_number() ? value : Json());
        }
    }
    return columns;
}

}  // namespace

RunFile json_of_run(const std::filesystem::path& file) {
    try {
        const std::string text = read_file(file);
        try {
            const JsonDocument document(text);
            (void)document.root().members();
            return {json_from_text<Json>(text), {}};
        } catch (const DataError& error) {
            return {{}, fmt::format("{}: it is damaged ({})", file.string(), error.what())};
        }
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

RunFile metrics_of_run(const std::filesystem::path& file) {
    try {
        return {columns_of(read_file(file), file.string()), {}};
    } catch (const Error& error) {
        return {Json::object(), error.what()};
    }
}

Json options_of(const std::string& ini) {
    Json groups = Json::array();
    for (const auto line : split(ini, '\n')) {
        if (line.starts_with("# ")) {
            groups.push_back({{"title", std::string(line.substr(2))}, {"options", Json::array()}});
            continue;
        }
        const std::size_t equals = line.find(" = ");
        if (equals == std::string::npos || groups.empty()) continue;
        const std::string option(line.substr(0, equals));
        // Whoever knows it can remove all noise, and pages are handed on.
        const std::string value(option == "noise-seed" ? "given, not shown here"
                                                       : line.substr(equals + 3));
        groups.back()["options"].push_back({option, value});
    }
    std::erase_if(groups.get_ref<Json::array_t&>(),
                  [](const Json& group) { return group["options"].empty(); });
    return groups;
}

Json without_keys(Json manifest) {
    if (!manifest.is_object()) return manifest;
    for (const char* key : {"seed_commitments", "public_keys", "transcript"}) manifest.erase(key);
    return manifest;
}

}  // namespace sotto
