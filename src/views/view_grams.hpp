#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sotto/views/view_record.hpp"
#include "views/adjoint_grams.hpp"
#include "views/observation_model.hpp"
#include "views/view_filter.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// A view's model with the correlation of its noise over rounds, in whichever of two ways is less
/// work: past noise in the state, or a factor that all observations are whitened with at once.
struct TemporalModel {
    ObservationModel model;
    Eigen::MatrixXd inverse;  ///< C_time^-1, a block a stretch; 0 x 0: the model has it all
};
[[nodiscard]] TemporalModel make_temporal_model(const MessageProcess& process,
                                                const ProcessRounds& where,
                                                const View& view);

/// What Gram matrices, and what they are made of, may take at a time. [bytes]
inline constexpr double memory_of_grams = 512e6;
/// That a run's Gram matrix of one target takes while it is made.
[[nodiscard]] inline double bytes_of_a_gram(double rounds) { return 8 * 3 * rounds * rounds; }

/// The Gram matrices of a view, by whichever of the ways to them is the least work: all
/// observations whitened at once, inputs followed through the filter, or carried through a tree, or
/// innovations followed backward.
class ViewGrams {
  public:
    explicit ViewGrams(TemporalModel model);
    ViewGrams(const ViewGrams&) = delete;
    ViewGrams& operator=(const ViewGrams&) = delete;

    /// Whitens all observations of the run at once where that is less work than the filter.
    [[nodiscard]] std::optional<std::vector<TargetGram>> try_whole_run(
        std::span<const int> targets) const;

    /// Makes ready what grams() needs for so many targets.
    void prepare(std::size_t targets);
    /// After prepare(). Safe to call from several threads.
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

    [[nodiscard]] double state_size() const { return size_.state; }
    /// Memory that one target takes in grams(), beside its Gram matrix.
    [[nodiscard]] double bytes_of_a_target() const;
    /// Whether grams() shares its own work by threads, and is best asked for all targets at once.
    [[nodiscard]] bool shares_threads() const { return adjoint_ != nullptr; }

  private:
    /// Largest of all steps; observed values and entries of F in a round.
    struct Size {
        double state = 0, observed = 0, entries = 0;
    };
    [[nodiscard]] static Size size_of(const ObservationModel& model);
    [[nodiscard]] double reaching(std::span<const int> targets) const;
    [[nodiscard]] double rounds_before_steady() const;
    [[nodiscard]] double adjoint_work(double targets) const;

    TemporalModel temporal_;
    Size size_;
    double rounds_;
    std::unique_ptr<ViewFilter> filter_;
    std::unique_ptr<ResponseTree> tree_;
    std::unique_ptr<AdjointGrams> adjoint_;
};

/// Independent rounds of one and the same step: the covariance of all P observed values of the run
/// is a running sum along its block diagonals, and its Cholesky factor whitens them. Nothing where
/// that does not apply (several gossip steps, changing steps or scales, singular covariance).
/// Better than the filter where few values are observed of a large network.
/// Cost P^2 sources + P^3 / 3 + P^2 rounds for every target whose input reaches the state.
[[nodiscard]] std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                                     std::span<const int> targets);

/// Gram matrices where the noise of a round depends on many earlier rounds: all observations of the
/// run are whitened at once.
/// @param model of independent rounds.  @param inverse C_time^-1, rounds x rounds, a block a
/// stretch. Cost O(P^3 + P^2 sources rounds) for P observed values in the run.
/// @throws ConfigError for more than 12000 observed values.
[[nodiscard]] std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                                           const Eigen::MatrixXd& inverse,
                                                           std::span<const int> targets);

/// a b, or a^T b where asked for, by add_product.
[[nodiscard]] Eigen::MatrixXd product(const Eigen::MatrixXd& a,
                                      bool transpose_a,
                                      const Eigen::MatrixXd& b);

/// Puts rows below a matrix, which has as many columns or no row yet.
void append_rows(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rows);

/// Largest absolute value; 0 of a matrix without entries.
[[nodiscard]] double largest_entry(const Eigen::MatrixXd& matrix);

}  // namespace sotto
