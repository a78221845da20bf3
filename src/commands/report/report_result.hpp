#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/report/report_job.hpp"

namespace sotto::cli {

/// For people: where the page is, what is missing from it and what was left out.
void print_report(std::FILE* stream, const Report& report, const std::string& path);

/// The same as a JSON object. @param path of the page.
[[nodiscard]] nlohmann::ordered_json json_of_report(const Report& report, const std::string& path);

}  // namespace sotto::cli
