#pragma once

#include <Eigen/Core>
#include <Eigen/Dense>
#include <memory>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// Bins of half a power of two: bin k counts norms from 2^(-10 + k / 2) up to its next; the first
/// and the last also what is below and above.
inline constexpr Eigen::Index norm_bins = 48;
/// The bin of a norm >= 0.
[[nodiscard]] Eigen::Index norm_bin(double norm);

/// The heaviest two neighbouring bins of a histogram, and where their weight lies.
struct TypicalNorm {
    Eigen::Index bin = 0;   ///< the lower of the two
    double position = 0.5;  ///< of their centre of mass, from 0 (centre of the lower) to 1
    /// g = 2^(centre of mass), bins taken at their centres.
    [[nodiscard]] double value() const;
};
/// Of counts that noise may have made negative; such counts weigh nothing.
[[nodiscard]] TypicalNorm typical_norm(const Eigen::Ref<const Eigen::VectorXd>& counts);
/// Whether `said` is as good an answer for these counts: its two bins weigh at least 0.8 times the
/// heaviest two.
[[nodiscard]] bool is_typical(const TypicalNorm& said,
                              const Eigen::Ref<const Eigen::VectorXd>& counts);

/// An objective whose clipped_gradient_sum counts its rows by the norm of their gradients at one
/// model: a row adds 1 to one bin, or nothing if its gradient is not finite, whatever the clip. So
/// one record changes the counts by at most 1 in L2 norm if it is added, removed or counts as zero,
/// and by at most sqrt 2 if it is replaced. Dimension norm_bins. Losses are zero.
/// @param of counted; must outlive the result.  @param model at which gradients are taken.
/// Cost: gradient_norms of the rows.
[[nodiscard]] std::unique_ptr<Objective> make_norm_histogram(Objective& of, Eigen::VectorXd model);

/// L2 norm without overflow or underflow; not a number if a value is not finite.
[[nodiscard]] double norm_or_nan(const Eigen::Ref<const Eigen::VectorXd>& vector);

}  // namespace sotto
