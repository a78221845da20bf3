#include "audit/likelihood_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/recorded_innovations.hpp"
#include "audit/recorded_shares.hpp"
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

/// Tests a hypothesis against what the accountant says about it.
/// @param risk of a false alarm.
HypothesisVerdict judge(const Hypothesis& hypothesis,
                        const std::pair<VectorXd, VectorXd>& scores_and_signs,
                        double delta,
                        double level,
                        double risk) {
    const auto& [scores, signs] = scores_and_signs;
    HypothesisVerdict verdict;
    verdict.figures = measure_attack(scores, signs, delta, level);
    // One end of an interval counts.
    const AttackFigures strict = measure_attack(scores, signs, delta, 1 - 2 * risk);
    const AttackFigures thresholds = measure_attack(scores, signs, delta, 1 - risk);
    const auto compare = [&](const char* what, double least, double theory) {
        if (least > theory)
            verdict.findings.push_back(
                fmt::format("hypothesis {}: {} is at least {:.4g}, the accountant says {:.4g}",
                            hypothesis.name,
                            what,
                            least,
                            theory));
    };
    // Nothing is above a mu that is not a number: Laplace noise.
    compare("mu", strict.lower, hypothesis.mu_theory);
    compare("epsilon", thresholds.epsilon_lower, hypothesis.epsilon_theory);
    return verdict;
}

std::string whiteness_finding(const WhitenessFigures& whiteness) {
    return fmt::format(
        "the noise is not what the plan says: whitened by the accountant's covariance, its "
        "mean square is {:.6g} instead of 1, and two of {} values are correlated by {:.1f} "
        "standard deviations",
        whiteness.variance,
        whiteness.dimensions,
        whiteness.largest_correlation);
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

LikelihoodResult analyse_likelihood(const std::filesystem::path& views,
                                    const MessageProcess& process,
                                    const View& view,
                                    const AuditDesign& design,
                                    double delta,
                                    double level,
                                    int threads) {
    LikelihoodResult result;
    result.mechanism = process.plan->mechanism;
    result.delta = delta;
    result.design = design;

    RecordedInnovations recorded(views,
                                 view,
                                 process,
                                 design.trials,
                                 fmt::format("the audit has {} trials", design.trials),
                                 threads);
    TrialScores scores(recorded.test(), design);
    while (const auto innovation = recorded.next()) scores.add(*innovation);

    // Bonferroni: all tests together are wrong with probability 1 - level at most.
    const bool gaussian = process.plan->distribution() == StreamDistribution::gaussian;
    const double tests =
        static_cast<double>(design.hypotheses.size()) * (gaussian ? 2 : 1) + (gaussian ? 1 : 0);
    const double risk = (1 - level) / tests;
    for (std::size_t h = 0; h < design.hypotheses.size(); ++h) {
        result.verdicts.push_back(
            judge(design.hypotheses[h], scores.of(static_cast<Index>(h)), delta, level, risk));
        append(result.findings, result.verdicts.back().findings);
    }
    if (gaussian && scores.residuals().cols() >= fewest_white_samples) {
        result.whiteness = test_whiteness(scores.residuals());
        result.noise_as_accounted = result.whiteness->p_value >= risk;
        if (!result.noise_as_accounted)
            result.findings.push_back(whiteness_finding(*result.whiteness));
    }
    append(result.findings, recorded.leak_findings());
    if (view.kind == View::Kind::secure_sum) {
        const MaskCheck masks = check_masks(views, view, *process.graph);
        result.mask_pairs = masks.pairs;
        append(result.findings, masks.findings);
    }
    return result;
}

}  // namespace sotto
