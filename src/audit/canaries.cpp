#include "audit/canaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/learn/canary.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Json = nlohmann::ordered_json;

constexpr long most_trials = 10000000;
constexpr double largest_contribution = 1e100;  // its square is finite too

Hypothesis hypothesis_from_json(const JsonValue& json) {
    const auto signs = json.at("signs").numbers();
    if (std::ranges::any_of(signs, [](double sign) { return std::abs(sign) > 1; }))
        json.at("signs").fail("numbers from -1 to 1");
    Hypothesis hypothesis;
    hypothesis.name = json.at("hypothesis").text();
    hypothesis.signs = Eigen::Map<const VectorXd>(signs.data(), static_cast<Index>(signs.size()));
    return hypothesis;
}

bool in_range(const AuditDesign& design) {
    const auto fits = [&](const Hypothesis& hypothesis) {
        return hypothesis.signs.size() == design.hypotheses.front().signs.size() &&
               hypothesis.signs.size() > 0;
    };
    return !design.hypotheses.empty() && std::ranges::all_of(design.hypotheses, fits);
}

}  // namespace

VectorXd AuditDesign::secret_signs() const {
    const auto count = static_cast<Index>(hypotheses.size());
    VectorXd result(trials);
    for (Index h = 0; h < count; ++h) {
        std::vector<double> mine;
        for (Index i = h; i < trials; i += count) mine.push_back(mine.size() % 2 == 0 ? 1 : -1);
        SeededRandom random(seed, "canary signs", static_cast<std::uint64_t>(h));
        random.shuffle(mine);
        for (std::size_t k = 0; k < mine.size(); ++k)
            result(h + count * static_cast<Index>(k)) = mine[k];
    }
    return result;
}

MatrixXd AuditDesign::patterns() const {
    MatrixXd result(hypotheses.front().signs.size(), static_cast<Index>(hypotheses.size()));
    for (Index h = 0; h < result.cols(); ++h)
        result.col(h) = hypotheses[static_cast<std::size_t>(h)].signs;
    return result;
}

std::string canaries_json(const AuditDesign& design) {
    Json json;
    json["format"] = "sotto-canaries";
    json["version"] = 1;
    json["target"] = design.target;
    json["seed"] = design.seed;
    json["trials"] = design.trials;
    json["contribution"] = design.contribution;
    json["hypotheses"] = Json::array();
    for (const Hypothesis& hypothesis : design.hypotheses)
        json["hypotheses"].push_back(
            {{"hypothesis", hypothesis.name},
             {"signs", std::vector<double>(hypothesis.signs.begin(), hypothesis.signs.end())}});
    return json.dump(1) + "\n";
}

AuditDesign canaries_from_json(std::string_view text, const std::string& source) try {
    const JsonDocument document(text);
    document.require_format("sotto-canaries", 1);
    const JsonValue json = document.root();
    AuditDesign design;
    design.target = json.at("target").integer<int>(0);
    design.seed = json.at("seed").integer<std::uint64_t>();
    design.trials = json.at("trials").integer<long>(fewest_trials, most_trials);
    design.contribution = json.at("contribution").number();
    if (!(design.contribution > 0 && design.contribution <= largest_contribution))
        json.at("contribution").fail(fmt::format("above 0 and at most {}", largest_contribution));
    for (const JsonValue& entry : json.at("hypotheses").items())
        design.hypotheses.push_back(hypothesis_from_json(entry));
    if (!in_range(design)) json.at("hypotheses").fail("hypotheses with equally many signs each");
    return design;
} catch (const DataError& error) {
    throw DataError(fmt::format("{}: not canaries ({})", source, error.what()));
}

LocalTask make_canary_task(const AuditDesign& design, double divisor, const Network& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        Contributions contributions;
        contributions.signs = design.patterns();
        contributions.values = agent == design.target
                                   ? VectorXd(design.contribution * divisor * design.secret_signs())
                                   : VectorXd::Zero(design.trials);
        task.objectives.push_back(make_canary_objective(std::move(contributions)));
    }
    task.initial = VectorXd::Zero(design.trials);
    task.description =
        fmt::format("audit: {} scalar models, of which agent {} contributes canaries",
                    design.trials,
                    design.target);
    task.statements.push_back(
        "Audit: every coordinate is a model and a trial of its own, clipped by itself; what this "
        "ledger says holds for each coordinate by itself, not for all of them together. The inputs "
        "are canaries, fixed in advance.");
    task.fixed_inputs = true;
    task.rows_are_rounds = true;
    task.coordinates = true;
    return task;
}

}  // namespace sotto
