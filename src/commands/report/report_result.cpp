#include "commands/report/report_result.hpp"

#include "core/output.hpp"

namespace sotto::cli {

void print_report(std::FILE* stream, const Report& report, const std::string& path) {
    say(stream,
        "report     {} ({:.1f} MB, {} observers, {:.3g} s)\n",
        path,
        static_cast<double>(report.page.size()) / 1e6,
        report.observers,
        report.seconds);
    for (const std::string& line : report.missing) say(stream, "missing    {}\n", line);
    for (const std::string& line : report.left_out) say(stream, "left out   {}\n", line);
}

nlohmann::ordered_json json_of_report(const Report& report, const std::string& path) {
    nlohmann::ordered_json json;
    json["path"] = path;
    json["bytes"] = report.page.size();
    json["observers"] = report.observers;
    json["missing"] = report.missing;
    json["left_out"] = report.left_out;
    json["seconds"] = report.seconds;
    return json;
}

}  // namespace sotto::cli
