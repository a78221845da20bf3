#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "commands/audit/audit_job.hpp"

namespace sotto {

/// Private mean estimation, attacked: every agent holds one row of data, of norm at most the clip,
/// and contributes it in every round of its participation.
struct Rows {
    Eigen::MatrixXd values;       ///< agents x d: the truth; the attacker does not have it
    Eigen::VectorXd divisors;     ///< B_u: one record is a B_u-th of a contribution
    Eigen::VectorXd rounds;       ///< 1 in the rounds in which a row takes part, else 0
    Eigen::Index image_rows = 0;  ///< a row is an image of this many rows; 0: it is none
};

/// What the row of one agent was taken for.
struct ReconstructedRow {
    int target = 0;
    int distance = -1;          ///< from the nearest member; -1 without one
    bool identifiable = false;  ///< no other row would have looked the same
    bool exact = false;         ///< no noise covers it
    double error = 0;           ///< of the estimate, root mean square over coordinates
    /// Root of the least variance of one coordinate, the other agents' rows unknown too
    /// (ContributionEstimator); 0 or infinite where exact or not identifiable.
    double deviation = 0;
    double relative_error = 0;  ///< |estimate - row| / |row|
    bool recovered = false;     ///< relative error at most ReconstructionResult::recovered_within
    bool beats_the_bound = false;  ///< by more than chance
};

struct ReconstructionResult {
    static constexpr double recovered_within = 0.1;

    std::string mechanism, view;
    int agents = 0;
    long rounds = 0;
    Eigen::Index dimension = 0;
    double level = 0.99;
    bool gaussian = true;                   ///< deviation is the Cramer-Rao bound
    std::vector<ReconstructedRow> targets;  ///< nearest first, then by number
    Eigen::MatrixXd estimates;              ///< as targets, x d; zero where nothing is known
    std::vector<std::string> findings;      ///< in words, why it is not consistent
    bool consistent = true;
    std::uint64_t seed = 1;
    double seconds = 0;
    std::string run_directory;

    [[nodiscard]] long recovered() const;
};

/// Looks at recordings and public facts (graph, mixing, plan, steps) and nothing else, estimates
/// the rows of all agents that are not members together, and compares with the truth afterwards.
/// Under Gaussian noise the mean squared error of a row, over its coordinates, is the bound times a
/// chi-squared variable over its degrees of freedom; with a smaller one than chance allows the run
/// hid less than the accountant says. @param views folder `views` of the run directory.
[[nodiscard]] ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                                          const MessageProcess& process,
                                                          const View& view,
                                                          const Rows& rows,
                                                          double level,
                                                          int threads);

/// The whole attack: plan, a run in which agents contribute rows of config.train.task's data,
/// recordings, analysis on process 0. In the run directory: rows.npy (agents x d),
/// reconstruction.npy (targets x d), audit.json and, of images, reconstruction.pgm (truth above
/// estimate). With config.run the analysis only, of the view that is asked; nothing is written.
/// COLLECTIVE; every process has the verdict, process 0 the result.
[[nodiscard]] ReconstructionResult run_reconstruction(const AuditConfig& config,
                                                      Network& network,
                                                      TrainingListener& observer,
                                                      const std::function<bool()>& stop_requested);

/// The JSON object (docs/cli.md), as text.
[[nodiscard]] std::string audit_report_json(const ReconstructionResult& result);
/// The same for people.
[[nodiscard]] std::string audit_report_text(const ReconstructionResult& result);

}  // namespace sotto
