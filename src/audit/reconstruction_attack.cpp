#include "audit/reconstruction_attack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "audit/audit_job.hpp"
#include "audit/contribution_estimate.hpp"
#include "audit/recorded_messages.hpp"
#include "core/files.hpp"
#include "core/numbers.hpp"

namespace sotto {

namespace {

constexpr const char* rows_file = "rows.npy";

class ReconstructionAttack final : public Attack {
  public:
    ReconstructionAttack(AuditConfig config, AuditSubject subject, Rows rows)
        : Attack(std::move(config), std::move(subject)), rows_(std::move(rows)) {}

    std::function<LocalTask()> inputs(const Control& network) const override {
        return [this, &network] { return make_rows_task(rows_, network); };
    }
    void write_inputs(const RunDirectory& directory) const override {
        write_npy(directory.path() / rows_file, rows_.values, Readers::owner);
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path& folder) const override {
        return std::make_unique<ReconstructionResult>(
            analyse_reconstruction(folder / "views",
                                   subject().process,
                                   subject().view,
                                   rows_,
                                   config().level,
                                   config().train.threads));
    }

  private:
    Rows rows_;
};

std::unique_ptr<Attack> start_reconstruction_attack(AuditConfig config,
                                                    AuditSubject subject,
                                                    Control& network) {
    Rows rows;
    network.agree([&] {
        rows = public_rows(config.train.plan, *subject.account);
        if (config.run)
            rows.values = recorded_rows(std::filesystem::path(*config.run) / rows_file,
                                        subject.topography.graph.agents());
    });
    if (!config.run)
        rows =
            read_rows(std::move(rows), config.train, subject.account->plan.distribution(), network);
    return std::make_unique<ReconstructionAttack>(
        std::move(config), std::move(subject), std::move(rows));
}

}  // namespace

AttackRecord reconstruction_attack() {
    return {.name = "reconstruction",
            .help = "data of all agents, in private means",
            .fixed_inputs = true,
            .sampled = false,
            .options = {"data", "partition"},
            .defaults = {{"rounds", "20"}, {"partition", "iid"}},
            .start = start_reconstruction_attack};
}

namespace {

using Json = nlohmann::ordered_json;

/// error / bound; NaN without a bound.
double ratio_of(const ReconstructedRow& row) {
    return row.exact || !row.identifiable ? not_a_number : row.error / row.deviation;
}

std::string bound_text(const ReconstructedRow& row) {
    if (!row.identifiable) return "unbounded";
    return row.exact ? "0" : fmt::format("{:.4g}", row.deviation);
}

struct ReconstructionSummary {
    long targets = 0, hidden = 0, exact = 0, recovered = 0;
    std::vector<double> relative_errors;

    [[nodiscard]] double median() const {
        std::vector<double> sorted = relative_errors;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::ranges::nth_element(sorted, middle);
        return *middle;
    }
};

std::map<int, ReconstructionSummary> by_distance(const ReconstructionResult& result) {
    std::map<int, ReconstructionSummary> summaries;
    for (const ReconstructedRow& row : result.targets) {
        ReconstructionSummary& summary = summaries[row.distance];
        ++summary.targets;
        summary.hidden += row.identifiable ? 0 : 1;
        summary.exact += row.exact ? 1 : 0;
        summary.recovered += row.recovered ? 1 : 0;
        summary.relative_errors.push_back(row.relative_error);
    }
    return summaries;
}

Json row_json(const ReconstructedRow& row, bool gaussian) {
    return {{"target", row.target},
            {"distance", distance_json(row.distance)},
            {"identifiable", row.identifiable},
            {"exact", row.exact},
            {"error", number_json(row.error)},
            {"cramer_rao", gaussian ? number_json(row.deviation) : Json()},
            {"linear_bound", number_json(row.deviation)},
            {"ratio", number_json(ratio_of(row))},
            {"relative_error", number_json(row.relative_error)},
            {"recovered", row.recovered},
            {"beats_the_bound", row.beats_the_bound}};
}

std::string row_line(const ReconstructedRow& row) {
    const double ratio = ratio_of(row);
    return fmt::format("  {:>8} {:>8} {:>10.4g} {:>14} {:>8} {:>14.3g}{}\n",
                       row.target,
                       distance_text(row.distance),
                       row.error,
                       bound_text(row),
                       std::isfinite(ratio) ? fmt::format("{:.3f}", ratio) : "-",
                       row.relative_error,
                       row.beats_the_bound ? "  BEATS THE BOUND" : "");
}

std::string distance_table(const ReconstructionResult& result) {
    std::string text = fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21}\n",
                                   "distance",
                                   "agents",
                                   "hidden",
                                   "exact",
                                   "recovered",
                                   "median relative error");
    for (const auto& [distance, summary] : by_distance(result))
        text += fmt::format("  {:>8} {:>8} {:>8} {:>8} {:>9} {:>21.3g}\n",
                            distance_text(distance),
                            summary.targets,
                            summary.hidden,
                            summary.exact,
                            summary.recovered,
                            summary.median());
    return text;
}

}  // namespace

long ReconstructionResult::recovered() const {
    return std::ranges::count(targets, true, &ReconstructedRow::recovered);
}

Json ReconstructionResult::json() const {
    Json json = run_json(*this);
    json["view"] = view;
    json["dimension"] = dimension();
    json["targets"] = Json::array();
    for (const ReconstructedRow& row : targets) json["targets"].push_back(row_json(row, gaussian));
    json["recovered"] = recovered();
    json["recovered_within"] = recovered_within;
    json["by_distance"] = Json::array();
    for (const auto& [distance, summary] : by_distance(*this))
        json["by_distance"].push_back({{"distance", distance_json(distance)},
                                       {"targets", summary.targets},
                                       {"identifiable", summary.targets - summary.hidden},
                                       {"exact", summary.exact},
                                       {"recovered", summary.recovered},
                                       {"relative_error_median", number_json(summary.median())}});
    json["consistent"] = consistent();
    json["confidence"] = level;
    add_ending(json, *this);
    return json;
}

std::string ReconstructionResult::question() const {
    return fmt::format(
        "reconstructs the rows of {} agents, {} values each", targets.size(), dimension());
}

std::string ReconstructionResult::tables() const {
    std::string text = distance_table(*this);
    std::vector<ReconstructedRow> best = targets;
    std::ranges::stable_sort(best, {}, &ReconstructedRow::relative_error);
    best.resize(std::min(best.size(), most_table_lines));
    text += fmt::format("  {:>8} {:>8} {:>10} {:>14} {:>8} {:>14}\n",
                        "agent",
                        "distance",
                        "error",
                        gaussian ? "Cramer-Rao" : "best linear",
                        "ratio",
                        "relative error");
    for (const ReconstructedRow& row : best) text += row_line(row);
    if (best.size() < targets.size())
        text += fmt::format("  and {} agents whose rows are estimated worse\n",
                            targets.size() - best.size());
    return text + fmt::format("  recovered to {:g}%: {} of {} rows\n",
                              100 * recovered_within,
                              recovered(),
                              targets.size());
}

std::string ReconstructionResult::agreement() const {
    return "no row is known better than the accountant says";
}

void ReconstructionResult::write_files(const RunDirectory& directory) const {
    write_npy(directory.path() / "reconstruction.npy", estimates, Readers::owner);
    if (image_rows > 0)
        directory.write("reconstruction.pgm",
                        reconstruction_picture(truths, estimates, image_rows));
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Estimates {
    std::vector<int> agents;  ///< ascending
    MatrixXd contributions;   ///< a row an agent
    VectorXd variances;       ///< of one coordinate of it
};

Estimates estimate(RecordedInnovations& recorded, const Rows& rows) {
    Estimates result;
    result.agents = recorded.test().unknown_agents();
    ContributionEstimator estimator(
        recorded.test().responses(result.agents,
                                  rows.rounds.replicate(1, std::ssize(result.agents))),
        rows.values.cols());
    while (const auto innovation = recorded.next()) estimator.add(*innovation);
    result.contributions = estimator.estimates();
    result.variances = estimator.variances();
    return result;
}

std::vector<std::size_t> nearest_first(const std::vector<int>& agents,
                                       const std::vector<int>& distances) {
    std::vector<std::size_t> order(agents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, {}, [&](std::size_t k) { return distances[static_cast<std::size_t>(agents[k])]; });
    return order;
}

/// @param variance of one coordinate.  @param risk of a false alarm; 0: the variance is no bound.
ReconstructedRow compare(const VectorXd& estimate,
                         const VectorXd& truth,
                         double variance,
                         double risk) {
    const Index dimension = truth.size();
    ReconstructedRow row;
    row.identifiable = std::isfinite(variance);
    row.exact = variance == 0;
    row.deviation = std::sqrt(variance);
    const double squared = (estimate - truth).squaredNorm();
    row.error = std::sqrt(squared / static_cast<double>(dimension));
    row.relative_error = std::sqrt(squared) / truth.norm();
    row.recovered = row.relative_error <= ReconstructionResult::recovered_within;
    row.beats_the_bound =
        risk > 0 && !row.exact && row.identifiable &&
        !(chance_of_smaller_error(row.error * row.error, variance, dimension) >= risk);
    return row;
}

std::string finding_of(const ReconstructedRow& row) {
    return fmt::format(
        "agent {}: the error is {:.4g} a coordinate, no unbiased estimate is better than {:.4g} by "
        "the accountant",
        row.target,
        row.error,
        row.deviation);
}

}  // namespace

ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                            const MessageProcess& process,
                                            const View& view,
                                            const Rows& rows,
                                            double level,
                                            int threads) {
    const Index dimension = rows.values.cols();
    RecordedInnovations recorded(
        views, view, process, dimension, fmt::format("rows have {}", dimension), threads);
    const Estimates known = estimate(recorded, rows);
    const std::vector<int> distances = distances_from_members(view, *process.graph);

    ReconstructionResult result;
    result.mechanism = process.plan->mechanism;
    result.gaussian = process.plan->distribution() == StreamDistribution::gaussian;
    result.image_rows = rows.image_rows;
    const auto count = std::ssize(known.agents);
    result.estimates.resize(count, dimension);
    result.truths.resize(count, dimension);
    // Bonferroni: all targets together have risk 1 - level.
    const double risk = result.gaussian ? (1 - level) / static_cast<double>(count) : 0;
    for (const std::size_t k : nearest_first(known.agents, distances)) {
        const int target = known.agents[k];
        // A row enters as minus a fraction of a contribution.
        const double divisor = rows.divisors(target);
        const auto place = std::ssize(result.targets), at = static_cast<Index>(k);
        result.estimates.row(place) = -divisor * known.contributions.row(at);
        result.truths.row(place) = rows.values.row(target);
        ReconstructedRow& row =
            result.targets.emplace_back(compare(result.estimates.row(place).transpose(),
                                                result.truths.row(place).transpose(),
                                                divisor * divisor * known.variances(at),
                                                risk));
        row.target = target;
        row.distance = distances[static_cast<std::size_t>(target)];
        if (row.beats_the_bound) result.findings.push_back(finding_of(row));
    }
    for (std::string& leak : recorded.leak_findings()) result.findings.push_back(std::move(leak));
    return result;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr Index most_columns = 12, most_lines = 4, gap = 2;
constexpr double background = 128;

std::string portable_grey_map(const MatrixXd& pixels) {
    std::string image = fmt::format("P5\n{} {}\n255\n", pixels.cols(), pixels.rows());
    for (Index y = 0; y < pixels.rows(); ++y)
        for (Index x = 0; x < pixels.cols(); ++x)
            image += static_cast<char>(
                static_cast<unsigned char>(std::lround(std::clamp(pixels(y, x), 0.0, 255.0))));
    return image;
}

}  // namespace

std::string reconstruction_picture(const MatrixXd& truths,
                                   const MatrixXd& estimates,
                                   Index height) {
    const Index width = truths.cols() / height;
    const Index shown = std::min<Index>(truths.rows(), most_columns * most_lines);
    const Index columns = std::min(shown, most_columns), lines = (shown + columns - 1) / columns;
    MatrixXd pixels = MatrixXd::Constant(
        lines * (2 * height + 3 * gap), columns * (width + gap) + gap, background);
    for (Index k = 0; k < shown; ++k) {
        const Index top = k / columns * (2 * height + 3 * gap) + gap;
        const Index left = k % columns * (width + gap) + gap;
        const double largest = truths.row(k).maxCoeff();
        const double white = largest > 0 ? 255 / largest : 0;
        for (Index i = 0; i < truths.cols(); ++i) {
            pixels(top + i / width, left + i % width) = white * truths(k, i);
            pixels(top + height + gap + i / width, left + i % width) = white * estimates(k, i);
        }
    }
    return portable_grey_map(pixels);
}

}  // namespace sotto
