#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "commands/audit/attack_run.hpp"
#include "commands/audit/audit_job.hpp"
#include "commands/audit/recorded_messages.hpp"
#include "commands/audit/recorded_shares.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/views/squared_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double most_residual_values = 2e7;       // kept for the test of whiteness: 160 MB
constexpr double most_covariance_products = 2e10;  // multiplications of that test

/// Scores of all trials, and what is left when the contribution is taken away.
class TrialScores {
  public:
    TrialScores(const ViewInnovations& test, const AuditDesign& design)
        : count_(static_cast<Index>(design.hypotheses.size())),
          signs_(design.secret_signs()),
          scores_(VectorXd::Zero(design.trials)) {
        const std::vector<int> targets(static_cast<std::size_t>(count_), design.target);
        expected_ = test.responses(targets, design.contribution * design.patterns());
        // In some direction no noise covers the target's contribution.
        infinite_.assign(static_cast<std::size_t>(count_), false);
        for (Index h = 0; h < count_; ++h)
            infinite_[static_cast<std::size_t>(h)] =
                expected_.noiseless.rows() > 0 && expected_.noiseless.col(h).cwiseAbs().maxCoeff() >
                                                      seen_without_noise * design.contribution;
        const auto dimensions = static_cast<double>(expected_.whitened.rows());
        const double kept = std::min({static_cast<double>(design.trials),
                                      most_residual_values / std::max(1.0, dimensions),
                                      most_covariance_products / (dimensions * dimensions + 1)});
        residuals_ = MatrixXd::Zero(expected_.whitened.rows(), static_cast<Index>(kept));
    }

    void add(const ViewInnovations::Innovation& innovation) {
        add_part(innovation.whitened, expected_.whitened, whitened_rows_, false);
        add_part(innovation.noiseless, expected_.noiseless, noiseless_rows_, true);
        const Index rows = innovation.whitened.rows(), kept = residuals_.cols();
        auto part = residuals_.middleRows(whitened_rows_, rows);
        part = innovation.whitened.leftCols(kept);
        for (Index i = 0; i < kept; ++i)
            part.col(i) -=
                signs_(i) * expected_.whitened.col(i % count_).segment(whitened_rows_, rows);
        whitened_rows_ += rows;
        noiseless_rows_ += innovation.noiseless.rows();
    }

    /// Scores and secret signs of the trials of one hypothesis.
    [[nodiscard]] std::pair<VectorXd, VectorXd> of(Index hypothesis) const {
        const Index trials = (scores_.size() - hypothesis + count_ - 1) / count_;
        const Eigen::Map<const VectorXd, 0, Eigen::InnerStride<>> scores(
            scores_.data() + hypothesis, trials, Eigen::InnerStride<>(count_));
        const Eigen::Map<const VectorXd, 0, Eigen::InnerStride<>> signs(
            signs_.data() + hypothesis, trials, Eigen::InnerStride<>(count_));
        return {scores, signs};
    }
    [[nodiscard]] const MatrixXd& residuals() const { return residuals_; }

  private:
    void add_part(const MatrixXd& values, const MatrixXd& expected, Index first, bool noiseless) {
        if (values.rows() == 0) return;
        for (Index i = 0; i < scores_.size(); ++i) {
            const Index h = i % count_;
            if (infinite_[static_cast<std::size_t>(h)] != noiseless) continue;
            scores_(i) += expected.col(h).segment(first, values.rows()).dot(values.col(i));
        }
    }

    Index count_;
    VectorXd signs_, scores_;
    ViewInnovations::Innovation expected_;
    std::vector<bool> infinite_;
    MatrixXd residuals_;
    Index whitened_rows_ = 0, noiseless_rows_ = 0;
};

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

std::size_t AuditResult::strongest() const {
    std::size_t best = 0;
    for (std::size_t h = 1; h < design.hypotheses.size(); ++h)
        if (design.hypotheses[h].epsilon_theory > design.hypotheses[best].epsilon_theory) best = h;
    return best;
}

AuditResult analyse_recordings(const std::filesystem::path& views,
                               const MessageProcess& process,
                               const View& view,
                               const AuditDesign& design,
                               double delta,
                               double level,
                               int threads) {
    AuditResult result;
    result.mechanism = process.plan->mechanism;
    result.agents = process.plan->agents;
    result.rounds = process.rounds();
    result.delta = delta;
    result.level = level;
    result.design = design;

    RecordedMessages recorded(views, view, process, threads);
    if (recorded.dimension() != design.trials)
        throw DataError(
            fmt::format("{}: models of {} coordinates are recorded, the audit has {} trials",
                        views.string(),
                        recorded.dimension(),
                        design.trials));
    MessageProcess seen = process;
    seen.plan = &recorded.knowledge();
    ViewInnovations test(seen, view, VectorXd::Zero(design.trials));
    TrialScores scores(test, design);
    while (recorded.next()) scores.add(test.next(recorded.step()));

    // Bonferroni: all tests together are wrong with probability 1 - level at most.
    const bool gaussian = process.plan->distribution() == StreamDistribution::gaussian;
    const double tests =
        static_cast<double>(design.hypotheses.size()) * (gaussian ? 2 : 1) + (gaussian ? 1 : 0);
    const double risk = (1 - level) / tests;
    for (std::size_t h = 0; h < design.hypotheses.size(); ++h) {
        const Hypothesis& hypothesis = design.hypotheses[h];
        const auto [values, signs] = scores.of(static_cast<Index>(h));
        AttackResult attack;
        attack.figures = measure_attack(values, signs, delta, level);
        // One end of an interval counts.
        const AttackFigures strict = measure_attack(values, signs, delta, 1 - 2 * risk);
        const AttackFigures thresholds = measure_attack(values, signs, delta, 1 - risk);
        if (gaussian && strict.lower > hypothesis.mu_theory) {
            attack.exceeds = true;
            result.findings.push_back(
                fmt::format("hypothesis {}: mu is at least {:.4g}, the accountant says {:.4g}",
                            hypothesis.name,
                            strict.lower,
                            hypothesis.mu_theory));
        }
        if (thresholds.epsilon_lower > hypothesis.epsilon_theory) {
            attack.exceeds = true;
            result.findings.push_back(
                fmt::format("hypothesis {}: epsilon is at least {:.4g}, the accountant says {:.4g}",
                            hypothesis.name,
                            thresholds.epsilon_lower,
                            hypothesis.epsilon_theory));
        }
        result.attacks.push_back(attack);
    }
    if (gaussian && scores.residuals().cols() >= 100) {
        result.whiteness = test_whiteness(scores.residuals());
        result.noise_as_accounted = result.whiteness->p_value >= risk;
        if (!result.noise_as_accounted)
            result.findings.push_back(fmt::format(
                "the noise is not what the plan says: whitened by the accountant's covariance, its "
                "mean square is {:.6g} instead of 1, and two of {} values are correlated by {:.1f} "
                "standard deviations",
                result.whiteness->variance,
                result.whiteness->dimensions,
                result.whiteness->largest_correlation));
    }
    add_leaks(recorded, *process.plan, result.findings);
    if (view.kind == View::Kind::secure_sum) {
        const MaskCheck masks = check_masks(views, view, *process.graph);
        result.mask_pairs = masks.pairs;
        result.findings.insert(result.findings.end(), masks.findings.begin(), masks.findings.end());
    }
    result.consistent = result.findings.empty();
    return result;
}

}  // namespace sotto
