#include "audit/canary_record_result.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"

namespace sotto {

namespace {

using Json = nlohmann::ordered_json;

Json rates_json(const CanaryRates& rates) {
    return {{"aimed", rates.aimed},
            {"false_positive_rate", rates.false_positive},
            {"true_positive_rate", rates.true_positive},
            {"true_positive_rate_theory", rates.theory}};
}

Json check_json(const CoinCheck& check, double risk) {
    return {{"check", check.name},
            {"measured", number_json(check.measured)},
            {"expected", number_json(check.expected)},
            {"standard_error", number_json(check.standard_error)},
            {"p_value", number_json(check.p_value)},
            {"passed", check.p_value >= risk}};
}

}  // namespace

Json CanaryRecordResult::json() const {
    Json json = run_json(*this);
    json["view"] = view;
    json["target"] = canaries.target;
    json["trials"] = canaries.trials;
    json["present"] = present;
    json["batch_size"] = batch_size;
    json["sampling_probability"] = sampling_probability;
    json["noise_multiplier"] = number_json(noise_multiplier);
    json["epsilon_theory"] = number_json(epsilon_theory);
    json["epsilon_lower"] = number_json(epsilon_lower);
    json["one_run"] = {{"epsilon_lower", number_json(one_run.epsilon_lower)},
                       {"guesses", one_run.guesses},
                       {"correct", one_run.correct}};
    json["rates"] = Json::array();
    for (const CanaryRates& of_threshold : rates) json["rates"].push_back(rates_json(of_threshold));
    json["checks"] = Json::array();
    for (const CoinCheck& check : checks) json["checks"].push_back(check_json(check, check_risk));
    json["rounds_recorded"] = rounds_recorded;
    json["consistent"] = consistent();
    json["delta"] = delta;
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string CanaryRecordResult::question() const {
    return fmt::format("asks which canary records agent {} has", canaries.target);
}

std::string CanaryRecordResult::tables() const {
    std::string text = fmt::format(
        "  canaries: {} of {} are in the shard; a record joins a batch with probability {:.6g}, "
        "noise multiplier {}\n",
        present,
        canaries.trials,
        sampling_probability,
        number_text(noise_multiplier, 4));
    text += fmt::format(
        "  epsilon of a record at delta {:g}: the accountant says {}; at least {} by a threshold, "
        "at least {} by {} guesses, {} of them correct\n",
        delta,
        number_text(epsilon_theory, 4),
        number_text(epsilon_lower, 4),
        number_text(one_run.epsilon_lower, 4),
        one_run.guesses,
        one_run.correct);
    text += fmt::format("  {:>16} {:>10} {:>16} {:>22}\n",
                        "false positives",
                        "measured",
                        "true positives",
                        "at most (accountant)");
    for (const CanaryRates& row : rates)
        text += fmt::format("  {:>16.3g} {:>10.4f} {:>16.4f} {:>22.4f}\n",
                            row.aimed,
                            row.false_positive,
                            row.true_positive,
                            row.theory);
    text += fmt::format("  {:<50} {:>10} {:>10} {:>10} {:>10}\n",
                        "what ran, against what is accounted for",
                        "measured",
                        "expected",
                        "error",
                        "p");
    for (const CoinCheck& check : checks)
        text += fmt::format("  {:<50} {:>10.4g} {:>10.4g} {:>10.2g} {:>10.2g}{}\n",
                            check.name,
                            check.measured,
                            check.expected,
                            check.standard_error,
                            check.p_value,
                            check.p_value < check_risk ? "  FAILS" : "");
    return text;
}

std::string CanaryRecordResult::agreement() const {
    return "what was seen agrees with secret coins and with the accountant";
}

}  // namespace sotto
