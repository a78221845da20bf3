#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"

namespace sotto::cli {

/// One option as the user sees it. Values are kept as text and checked by their readers, so that
/// every message names the option, the value, and what is allowed.
struct Option {
    std::string name;
    std::string default_text;  ///< empty: no default
    std::string help;
    enum class Kind {
        value,
        flag,   ///< no value
        output  ///< value may be left out: then "-", standard output
    } kind = Kind::value;
    bool reproduces_run = true;  ///< belongs into a run's config.ini
    /// A word without an option's name before it is this option's value; one of a command at most.
    bool positional = false;
};

struct OptionGroup {
    std::string title;
    std::vector<Option> options;
};

[[nodiscard]] OptionGroup graph_options();
[[nodiscard]] OptionGroup plan_options();
[[nodiscard]] OptionGroup task_options();
[[nodiscard]] OptionGroup run_options();
/// Of every job in which agents exchange messages.
[[nodiscard]] OptionGroup peer_options();
/// --json, --config, --quiet, --help.
[[nodiscard]] OptionGroup common_options();

/// An INI file's content, and what to call it in messages.
struct ConfigText {
    std::string text, source;
};

/// Options of one command, from the command line and, where --config names a file, from there (the
/// command line wins).
class ParsedOptions {
  public:
    /// @throws ConfigError for an option or configuration key that does not exist (with the nearest
    /// one), a missing value, or stray words where no option is positional; DataError if the file
    /// cannot be read.
    /// @param config read instead of the file that --config names.
    ParsedOptions(const std::vector<OptionGroup>& groups,
                  const std::vector<std::string>& arguments,
                  const std::optional<ConfigText>& config = std::nullopt);

    [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
    /// Set by the user, not by default.
    [[nodiscard]] bool given(const std::string& name) const;
    [[nodiscard]] bool flag(const std::string& name) const;
    [[nodiscard]] const std::string& text(const std::string& name) const;
    [[nodiscard]] double real(const std::string& name) const;
    /// @throws ConfigError unless minimum <= value.
    [[nodiscard]] long integer(const std::string& name, long minimum) const;
    /// Replaces a default by what it came to mean in this run.
    void resolve(const std::string& name, const std::string& text) { values_[name].text = text; }
    /// Every option of the run with its value, as an INI file that starts `command` again.
    /// @throws ConfigError for a value that the format cannot hold (# starts a comment).
    [[nodiscard]] std::string as_ini(std::string_view command) const;
    /// The same options, "--name value" or "--name not given", one a line: what all ranks of a job
    /// must have in common where every option counts.
    [[nodiscard]] std::string as_lines() const;

  private:
    struct Value {
        std::string text;
        bool given = false;
    };
    std::vector<OptionGroup> groups_;
    std::map<std::string, Value> values_;
};

/// " [NAME]" of the positional option, for a line of usage; empty without one.
[[nodiscard]] std::string positional_usage(const std::vector<OptionGroup>& groups);
[[nodiscard]] std::string help_text(const std::vector<OptionGroup>& groups);

[[nodiscard]] GraphConfig read_graph_config(const ParsedOptions& options);
[[nodiscard]] PlanConfig read_plan_config(const ParsedOptions& options);
/// Where the run is written, keys, bootstrap, links and threads.
void read_peer_options(const ParsedOptions& options, TrainConfig& config);
/// What is learnt, from which data, and its regularisation.
void read_task_options(const ParsedOptions& options, TrainConfig& config);
/// With the defaults of its task (help of --task) where those are not the options' own.
[[nodiscard]] TrainConfig read_train_config(ParsedOptions options);

}  // namespace sotto::cli
