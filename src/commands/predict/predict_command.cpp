#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "tasks/predictions.hpp"

namespace sotto::cli {

namespace {

struct PredictOptions {
    std::string run, data, out;
    int agent = 0;
};

OptionSet<PredictOptions> option_set_of_predict() {
    return OptionSet<PredictOptions>().add(option_group<PredictOptions>(
        "Predict",
        {{{{.name = "run", .help = "DIR of a training from records"},
           bound(&PredictOptions::run, folder_path())},
          {{.name = "data",
            .help = "FILE[,FILE...] of the records, in the format of the training data; the label "
                    "may be missing from CSV data"},
           bound(&PredictOptions::data, file_path())},
          {{.name = "out", .help = "FILE for the predictions, as CSV"},
           bound(&PredictOptions::out, file_path())},
          {{.name = "agent", .help = "agent of the run, on this machine, whose model predicts"},
           bound(&PredictOptions::agent, whole(0, 100000000))}}}));
}

std::vector<WrittenGroup> options_of_predict() {
    return with_general(option_set_of_predict().written());
}

int predict_main(const std::vector<std::string>& arguments) {
    const OptionTexts given = parse_options(options_of_predict(), arguments);
    const GeneralOptions general = read_general(given);
    require_json_writable(general);
    for (const char* needed : {"run", "data", "out"})
        if (!given.contains(needed))
            throw ConfigError(fmt::format(
                "--{}: a value is needed (example: sotto predict --run runs/heart --data new.csv "
                "--out predictions.csv)",
                needed));
    const PredictOptions asked = option_set_of_predict().read(given);
    require_writable(asked.out);
    const Predictions predictions = predict(asked.run, asked.agent, asked.data);
    write_file_atomically(asked.out, predictions_csv(predictions), Readers::everybody);
    const bool classes = !predictions.classes.empty();
    nlohmann::ordered_json json;
    json["out"] = asked.out;
    json["records"] = predictions.records();
    json["classes"] = predictions.classes;
    json[classes ? "accuracy" : "rms_error"] =
        predictions.metric ? nlohmann::ordered_json(*predictions.metric) : nullptr;
    json[classes ? "constant_accuracy" : "constant_rms_error"] =
        predictions.constant_metric ? nlohmann::ordered_json(*predictions.constant_metric)
                                    : nullptr;
    write_json(general, to_text(json));
    if (std::FILE* out = report_stream(general)) {
        say(out,
            "predicted  {} records, by the model of agent {}: {}\n",
            predictions.records(),
            asked.agent,
            asked.out);
        if (predictions.metric)
            say(out,
                "{}   {:.4g} ({} {:.4g}); records that the model was trained on count as well\n",
                classes ? "accuracy" : "rms error",
                *predictions.metric,
                classes ? "always the commonest class:" : "always the mean:",
                *predictions.constant_metric);
    }
    return 0;
}

}  // namespace

Command predict_command() {
    return {.name = "predict",
            .summary = "predict new records with the model that a run has trained",
            .example = "sotto predict --run runs/heart --data new.csv --out predictions.csv",
            .description = R"(
Reads a model of a run (`agents/AGENT/model.npy`, and `model.json` next to it, which says how records become its inputs) and writes
its predictions for new records, in their order, as CSV. The column `prediction` has classes as in the training data, or values in
their units; for classes, the columns `probability CLASS` follow. If the records have labels, it prints how good the predictions are.)",
            .files = {{"DIR/agents/AGENT/model.json", "columns, classes and scaling of the model"},
                      {"DIR/agents/AGENT/model.npy", "its parameters"}},
            .options = options_of_predict,
            .run = predict_main};
}

}  // namespace sotto::cli
