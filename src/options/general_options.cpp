#include "options/general_options.hpp"

#include "core/output.hpp"
#include "options/option_bindings.hpp"
#include "options/option_set.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

OptionFormat<std::string> output_file() {
    OptionFormat<std::string> format = file_path();
    format.kind = OptionKind::output;
    return format;
}

OptionSet<GeneralOptions> general_set() {
    return OptionSet<GeneralOptions>().add(general_options());
}

}  // namespace

OptionGroup<GeneralOptions>& general_options() {
    static OptionGroup<GeneralOptions> group = option_group<GeneralOptions>(
        "General",
        {{{{.name = "config",
            .help = "INI FILE with any of these options; the command line wins",
            .details = R"(
Lines `name = value`; `#` begins a comment. A mistyped option, key or value is an error that names the nearest one.)",
            .reproduces_run = false,
            .changes_results = false},
           bound_to_nothing<GeneralOptions>(OptionKind::value, among_others("", {"FILE"}))},
          {{.name = "json",
            .help = "write one JSON object to FILE, or to standard output with -",
            .details = R"(
With `-`, or without a value, everything else goes to standard error. Where standard output takes no more, as on a full disk, the
exit code is 9.)",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound(&GeneralOptions::json, output_file())},
          {{.name = "quiet",
            .help = "no progress and no report",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound(&GeneralOptions::quiet, flag())},
          {{.name = "help",
            .help = "this text",
            .reproduces_run = false,
            .beside_run = true,
            .changes_results = false},
           bound_to_nothing<GeneralOptions>(OptionKind::flag)}}});
    return group;
}

std::vector<WrittenGroup> with_general(std::vector<WrittenGroup> groups) {
    for (WrittenGroup& group : general_set().written()) groups.push_back(std::move(group));
    return groups;
}

GeneralOptions read_general(const OptionTexts& given) { return general_set().read(given); }

void require_json_writable(const GeneralOptions& options) {
    if (options.json && *options.json != "-") require_writable(*options.json);
}

void write_json(const GeneralOptions& options, const std::string& json) {
    if (!options.json) return;
    if (*options.json == "-") {
        write_text(stdout, json);
        require_written(stdout, "standard output");
    } else {
        write_file_atomically(*options.json, json);
    }
}

std::FILE* report_stream(const GeneralOptions& options) {
    if (options.quiet) return nullptr;
    return options.json == "-" ? stderr : stdout;
}

}  // namespace sotto
