#include "options/task_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>
#include <utility>

#include "config/agent_path.hpp"
#include "options/option_set.hpp"
#include "sotto/core/names.hpp"
#include "tasks/task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {

namespace {

/// Names of tasks, or a file with your own.
AllowedValues task_words() {
    AllowedValues allowed = one_of(task_names());
    allowed.words.emplace_back("FILE.so");
    return allowed;
}

std::vector<Option<TaskConfig>> model_options() {
    return {{{.name = "task",
              .common = true,
              .help = "{}, or FILE.so (a task of your own)",
              .details = R"(
[Tasks](../tasks.md) explains what they learn and what that means for the guarantee. `config.ini` keeps the defaults
that were used. The task )" +
                         task_defaults_text() + ".",
              .ranks_must_agree = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::task, some_text(task_words()))},
            {{.name = "hidden",
              .help = "mlp: units of the hidden layer (default 128, or 64 to predict values)",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::hidden, whole(1))}};
}

/// Names separated by commas.
OptionFormat<std::vector<std::string>> name_list() {
    return {among_others("", {"NAME[,NAME...]"}),
            [](const std::string&, const std::string& text) {
                std::vector<std::string> names;
                if (!text.empty())
                    for (const std::string_view name : split(text, ',')) names.emplace_back(name);
                return names;
            },
            [](const std::vector<std::string>& names) {
                return fmt::format("{}", fmt::join(names, ","));
            }};
}

OptionFormat<std::vector<ColumnBounds>> bounds_list() {
    return {among_others("", {"NAME=LOW:HIGH[,...]", "FILE"}),
            [](const std::string&, const std::string& text) {
                return text.empty() ? std::vector<ColumnBounds>() : parse_bounds(text);
            },
            [](const std::vector<ColumnBounds>& bounds) {
                std::string text;
                for (const ColumnBounds& one : bounds)
                    text += fmt::format(
                        "{}{}={}:{}", text.empty() ? "" : ",", one.column, one.low, one.high);
                return text;
            }};
}

/// An option for the meaning of the data, which all ranks share but no peer sets.
OptionFacts about_tables(std::string name, std::string help, std::string details = {}) {
    const bool common = name == "label" || name == "bounds";
    return {.name = std::move(name),
            .common = common,
            .help = std::move(help),
            .details = std::move(details),
            .ranks_must_agree = true,
            .peers_may_set = false,
            .describes_data = true};
}

std::vector<Option<TableOptions>> table_options() {
    return {
        {about_tables("label",
                      "column of CSV data to predict, by name (or by number, from 1, if there is "
                      "no header line); 'NAME>V' predicts whether it is above V",
                      R"(
Texts, and whole numbers that occur again and again, are classes ([your data](../data.md#tables)); other numbers are
values to predict. A file with a header line needs `--label`. In a file without one, the last column is a value to
predict unless `--label` says otherwise.)"),
         bound(&TableOptions::label, any_text(among_others("", {"NAME", "NUMBER"})))},
        {about_tables("label-kind",
                      "{}: whether the --label column has classes or values to predict; auto "
                      "decides by its content"),
         bound(&TableOptions::target, words(target_kinds))},
        {about_tables("ignore", "columns of CSV data that are not features, separated by commas"),
         bound(&TableOptions::ignore, name_list())},
        {about_tables("categorical",
                      "columns of CSV data whose numbers are categories, separated by commas; "
                      "columns of texts always are"),
         bound(&TableOptions::categorical, name_list())},
        {about_tables("missing",
                      "{}: what to do with missing cells of CSV data (empty, ?, NA, NaN, null)",
                      R"(
`refuse` ends with an error that names the cell. `indicator` replaces the cell by zero after scaling, and gives every
column of numbers a second feature that is 1 where the number is missing, and every column of categories one more
category. `value:V` replaces the cell by V. None of them learns anything from the data.)"),
         bound(&TableOptions::missing,
               named(among_others("refuse, indicator, value:V", {"refuse", "indicator", "value:V"}),
                     [](std::string_view, std::string_view text) { return parse_missing(text); }))},
        {about_tables(
             "unit-column",
             "column of CSV data that says which person each record belongs to: all records of a "
             "person are then protected together, like a single record otherwise",
             R"(
With a record adjacency, the guarantee then covers everything that one person (one value of the column) has at one
agent: a person's gradient is the mean of the gradients of that person's records, clipped as one; `--batch-size` counts
persons, and sampling draws persons. The guarantee holds for each agent by itself: for somebody with records at several
agents give `--unit-agents`.)"),
         bound(&TableOptions::unit, any_text(among_others("", {"NAME", "NUMBER"})))},
        {about_tables("unit-records",
                      "with --unit-column: at most so many of a person's records in one gradient, "
                      "chosen anew for every model (0: all)",
                      R"(
Rounds are then no slower for a person with thousands of records, and the guarantee is the same. The choice depends on
the model and on the person's own records, so that nobody else's records change it.)"),
         bound(&TableOptions::unit_records, whole(0))},
        {about_tables("bounds",
                      "NAME=LOW:HIGH,... or FILE: public bounds of CSV columns of numbers",
                      R"(
Every column of numbers has bounds, also one to predict; in FILE they are one per line. Values are cut to them and scaled to
-1 to 1.
Bounds are public: they must come from what is known about such data in general, such as an age from 0 to 110, and never
from the data. Then scaling costs no privacy. Without a header line NAME is the column's number, from 1. A model whose
target has bounds is trained on -1 to 1, and predicts in the data's units. Columns of numbers need bounds or
`--standardise`.)"),
         bound(&TableOptions::bounds, bounds_list())}};
}

std::vector<Option<TaskConfig>> scaling_options() {
    return {
        {about_tables("standardise",
                      "{}: how columns of numbers of CSV data are scaled: not at all, by mean and "
                      "deviation of the training data, which no guarantee counts, or by those that "
                      "one round learns within --bounds, which is paid for",
                      R"(
There is no default: data with columns of numbers, or a number to predict, are refused unless `--bounds` or
`--standardise` says how they are scaled. `private` needs `--bounds`: values are cut to them, one round with noise learns
mean and deviation of every column over all agents, and 5% of mu^2 pays for it. A variance below the noise counts as the noise,
and the run names such columns. `public` reveals what no epsilon counts, except with adjacency `agent` and a file for each agent.)"),
         bound(&TaskConfig::standardise, words(standardise_names))},
        {about_tables("feature-norm",
                      "logistic: shorten training records to length R, constant feature included, "
                      "so that a --view has a guarantee",
                      R"(
Every agent multiplies the features a of each of its training records that is longer by a factor, so that sqrt(|a|^2 + 1) is
at most R; test records stay as they are. The curvature of a record's loss is then at most R^2 / 4, and a step of at most
2 / (R^2 / 4 + 2 l2) moves no two models further apart, so that `--view` and `sotto account --run` bound what partial views
learn from the training ([accounting](../accounting.md#a-training-whose-partial-views-have-guarantees)). The run refuses
options with which that does not hold, states in its ledger what it enforced (`convex`), and measures nothing that `--tune`
asks for. A small R allows longer steps, and changes what is learnt where records are longer.)"),
         bound(&TaskConfig::feature_norm, real_between(1.001, 1e6))}};
}

std::vector<Option<TaskConfig>> data_options() {
    return {{{.name = "data",
              .common = true,
              .other_names = {"dataset", "train-data"},
              .help = "synthetic, or FILE[,FILE...]: LIBSVM, IDX images, CSV or LEAF JSON, plain "
                      "or .gz; %r is the agent's number",
              .details = R"(
Several files are separated by commas. A comma in a name is written `\,`, and if a file has exactly the given name, that
file is read. With `%r` in the path, each agent reads its own file. Otherwise every process reads the file and keeps
only the shards of its agents, dealt by `--partition`. [Your data](../data.md) describes the formats, and how labels and
columns are read.)",
              .beside_run = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::data, some_text(among_others("", {"synthetic", "FILE"})))},
            {{.name = "test-data",
              .common = true,
              .help = "FILE[,FILE...] to test on, instead of splitting the data; %r is the agent's "
                      "number",
              .beside_run = true,
              .peers_may_set = false,
              .describes_data = true},
             bound(&TaskConfig::test_data, file_path())},
            {{.name = "test-fraction",
              .help = "part of the data to test on, in (0, 1)",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::test_fraction, any_real())},
            {{.name = "partition",
              .common = true,
              .help = "iid, dirichlet:ALPHA, by-label:k, by-writer:k (LEAF; k writers per agent, "
                      "default 10); default dirichlet:10, or iid for values to predict",
              .ranks_must_agree = true,
              .describes_data = true},
             bound(&TaskConfig::partition,
                   named(among_others("", {"iid", "dirichlet:ALPHA", "by-label:k", "by-writer:k"}),
                         parse_partition))}};
}

std::vector<Option<TrainConfig>> regularisation_and_seed() {
    return {{{.name = "l2",
              .help = "regularisation, added outside the clip",
              .details = R"(
A `--view` of a training with `--l2` above 0 takes it into account. Gaussian noise on messages is refused with such a
view (exit code 2), and so are runs so long that less than a millionth of an old message would be left.)",
              .ranks_must_agree = true},
             bound(&TrainConfig::l2, any_real())},
            {{.name = "seed",
              .help = "seed of data, partition, batches and initialisation, never of noise",
              .ranks_must_agree = true},
             bound(
                 [](auto& c) -> auto& { return c.task.seed; }, whole(0))}};
}

}  // namespace

OptionGroup<TrainConfig>& task_options() {
    static OptionGroup<TrainConfig> group = option_group<TrainConfig>(
        "Task",
        {lifted<TrainConfig>(model_options(), &TrainConfig::task),
         lifted<TrainConfig>(data_options(), &TrainConfig::task),
         lifted<TrainConfig>(
             table_options(), [](auto& c) -> auto& { return c.task.table; }),
         lifted<TrainConfig>(scaling_options(), &TrainConfig::task),
         regularisation_and_seed()});
    return group;
}

OptionTexts with_task_defaults(OptionTexts given) {
    const auto named = given.find("task");
    const TaskRecord* task =
        tasks().look_up(named != given.end() ? named->second : TaskConfig{}.task);
    if (task != nullptr)
        for (const auto& [option, text] : task->defaults) given.try_emplace(option, text);
    return given;
}

OptionTexts with_agents_of_files(OptionTexts given) {
    const auto data = given.find("data");
    // Options from rank 0 must not make a resuming process look for files.
    for (const char* says_it : {"agents", "graph", "resume"})
        if (given.contains(says_it)) return given;
    if (data == given.end()) return given;
    if (is_pattern(data->second) && !std::filesystem::is_regular_file(data->second))
        given["agents"] = std::to_string(matching_files(data->second).size());
    return given;
}

std::string task_defaults_text() {
    std::string text;
    for (const TaskRecord& task : tasks().records()) {
        if (task.defaults.empty()) continue;
        text += text.empty() ? "" : "; ";
        text += task.name + " has other defaults: ";
        for (std::size_t i = 0; i < task.defaults.size(); ++i)
            text += fmt::format(
                "{}{} {}", i == 0 ? "" : ", ", task.defaults[i].option, task.defaults[i].text);
    }
    return text;
}

}  // namespace sotto
