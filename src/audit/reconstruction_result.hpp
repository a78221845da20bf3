#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "audit/audit_result.hpp"

namespace sotto {

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

}  // namespace sotto
