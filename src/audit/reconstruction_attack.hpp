#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <string>
#include <vector>

#include "audit/attack.hpp"
#include "audit/audit_job.hpp"
#include "audit/contribution_estimate.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// What are the data of every other agent? Private mean estimation: agents contribute one row each
/// of config.train.task's data (Rows), and the view estimates all of them together. A run directory
/// keeps rows.npy (agents x d), reconstruction.npy and, of images, reconstruction.pgm.
[[nodiscard]] AttackRecord reconstruction_attack();

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

/// What the members of a view took the rows of all other agents for.
struct ReconstructionResult : AuditResult {
    static constexpr double recovered_within = 0.1;

    bool gaussian = true;                   ///< deviation is the Cramer-Rao bound
    std::vector<ReconstructedRow> targets;  ///< nearest first, then by number
    Eigen::MatrixXd estimates;              ///< as targets, x d; zero where nothing is known
    Eigen::MatrixXd truths;                 ///< as estimates
    Eigen::Index image_rows = 0;            ///< as Rows::image_rows

    [[nodiscard]] Eigen::Index dimension() const { return estimates.cols(); }
    [[nodiscard]] long recovered() const;
    [[nodiscard]] nlohmann::ordered_json json() const override;
    [[nodiscard]] std::string question() const override;
    [[nodiscard]] std::string tables() const override;
    [[nodiscard]] std::string agreement() const override;
    /// reconstruction.npy (targets x d) and, of images, reconstruction.pgm.
    void write_files(const RunDirectory& directory) const override;
};

/// Looks at recordings and public facts (graph, mixing, plan, steps) and nothing else, estimates
/// the rows of all agents that are not members together, and compares with the truth afterwards.
/// Under Gaussian noise the mean squared error of a row, over its coordinates, is the bound times a
/// chi-squared variable over its degrees of freedom; with a smaller one than chance allows the run
/// hid less than the accountant says. @param views folder `views` of the run directory.
/// @return mechanism, findings and what the attack alone has.
[[nodiscard]] ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                                          const MessageProcess& process,
                                                          const View& view,
                                                          const Rows& rows,
                                                          double level,
                                                          int threads);

/// Grey image (PGM, binary) of the first rows: pairs of pictures, the truth above what it was taken
/// for. Every pair is as bright as its truth's largest value is white.
/// @param truths, estimates a picture a row.  @param height of a picture; > 0, divides the row.
[[nodiscard]] std::string reconstruction_picture(const Eigen::MatrixXd& truths,
                                                 const Eigen::MatrixXd& estimates,
                                                 Eigen::Index height);

}  // namespace sotto
