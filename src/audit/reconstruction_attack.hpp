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
/// keeps rows.npy (agents x d), reconstruction.npy and, for images, reconstruction.pgm.
[[nodiscard]] AttackRecord reconstruction_attack();

/// The estimate of one agent's row.
struct ReconstructedRow {
    int target = 0;
    int distance = -1;          ///< to the nearest member; -1 without one
    bool identifiable = false;  ///< no other row would look the same
    bool exact = false;         ///< no noise covers it
    double error = 0;           ///< root mean square over coordinates
    /// Root of the least variance of one coordinate, other agents' rows unknown too
    /// (ContributionEstimator); 0 if exact, infinite if not identifiable.
    double deviation = 0;
    double relative_error = 0;  ///< |estimate - row| / |row|
    bool recovered = false;     ///< relative error at most ReconstructionResult::recovered_within
    bool beats_the_bound = false;  ///< more than chance allows
};

struct ReconstructionResult : AuditResult {
    static constexpr double recovered_within = 0.1;

    bool gaussian = true;                   ///< deviation is the Cramer-Rao bound
    std::vector<ReconstructedRow> targets;  ///< by distance, then by number
    Eigen::MatrixXd estimates;              ///< in the order of targets, x d; zero if unknown
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

/// Estimates the rows of all agents that are not members from recordings and public facts (graph,
/// mixing, plan, steps) alone, then compares with the truth. Under Gaussian noise the mean squared
/// error of a row over its coordinates is the bound times a chi-squared variable over its degrees
/// of freedom; if it is smaller than chance allows, the run hid less than the accountant says.
/// @param views folder `views` of the run directory.
/// @return mechanism, findings and the attack's own results.
[[nodiscard]] ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                                          const MessageProcess& process,
                                                          const View& view,
                                                          const Rows& rows,
                                                          double level,
                                                          int threads);

/// Grey image (PGM, binary) of the first rows: pairs of pictures, the truth above the estimate,
/// with the brightness of the truth's largest value.
/// @param truths, estimates one picture per row.  @param height of a picture; > 0, divides the row.
[[nodiscard]] std::string reconstruction_picture(const Eigen::MatrixXd& truths,
                                                 const Eigen::MatrixXd& estimates,
                                                 Eigen::Index height);

}  // namespace sotto
