#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_record.hpp"
#include "views/adjoint_grams.hpp"
#include "views/observation_model.hpp"
#include "views/view_filter.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// Closed form for views of every message, if every receiver gets the same one.
class AllMessages {
  public:
    /// @param process, where must outlive the object.
    AllMessages(const MessageProcess& process,
                const ProcessRounds& where,
                const View& view,
                const Participation& participation);

    /// The largest over participation patterns of the sum over stretches of [(R^(I))^-1]_uu sum
    /// |C_time^T C_time|, without rounds where u is absent.
    [[nodiscard]] double squared_sensitivity(int target) const;

    /// Block diagonal by stretch, without rounds where the target is absent.
    [[nodiscard]] TargetGram gram(int target) const;

  private:
    /// Sum over the rounds of a pattern in two phases of one stretch.
    struct PairSum {
        int first = 0, second = 0;
        double value = 0;
    };
    [[nodiscard]] bool is_there(int phase, int agent) const;
    [[nodiscard]] Eigen::VectorXd input_scale(const NoiseStretch& stretch) const;
    [[nodiscard]] Eigen::MatrixXd time_gram(const NoiseStretch& stretch) const;
    [[nodiscard]] std::vector<PairSum> pair_sums(const NoiseStretch& stretch,
                                                 const Eigen::MatrixXd& gram,
                                                 const std::vector<Eigen::Index>& pattern) const;

    const MessageProcess& process_;
    const ProcessRounds& where_;
    std::vector<Eigen::VectorXd> precisions_;                   // of every stretch
    std::vector<std::vector<std::vector<PairSum>>> time_sums_;  // pattern, stretch
};

/// A view's model with noise correlated over rounds, by the cheaper of two methods: past noise in
/// the state, or a factor for whitening all observations at once.
struct TemporalModel {
    ObservationModel model;
    Eigen::MatrixXd inverse;  ///< C_time^-1, one block per stretch; 0 x 0 if the model contains it
};
[[nodiscard]] TemporalModel make_temporal_model(const MessageProcess& process,
                                                const ProcessRounds& where,
                                                const View& view);

/// Memory for Gram matrices in progress. [bytes]
inline constexpr double memory_of_grams = 512e6;
/// Memory of one target's Gram matrix while it is computed.
[[nodiscard]] inline double bytes_of_a_gram(double rounds) { return 8 * 3 * rounds * rounds; }

/// The Gram matrices of a view by the cheapest method: whitening all observations at once,
/// following inputs through the filter, a tree of products, or following innovations backward.
class ViewGrams {
  public:
    explicit ViewGrams(TemporalModel model);
    ViewGrams(const ViewGrams&) = delete;
    ViewGrams& operator=(const ViewGrams&) = delete;

    /// Whitens all observations of the run at once if that is cheaper than the filter.
    [[nodiscard]] std::optional<std::vector<TargetGram>> try_whole_run(
        std::span<const int> targets) const;

    /// Prepares grams() for this number of targets.
    void prepare(std::size_t targets);
    /// Call after prepare(). Safe to call from several threads.
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const;

    [[nodiscard]] double state_size() const { return size_.state; }
    /// Memory of one target in grams(), besides its Gram matrix.
    [[nodiscard]] double bytes_of_a_target() const;
    /// Whether grams() uses all threads itself, so that all targets should be passed at once.
    [[nodiscard]] bool shares_threads() const { return adjoint_ != nullptr; }

  private:
    /// Largest sizes over all steps; observed values and entries of F per round.
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

/// Gram matrices for independent rounds of one repeated step: the covariance of all P observed
/// values of the run is a running sum along its block diagonals, and its Cholesky factor whitens
/// them. Nothing if that does not apply (several gossip steps, changing steps or scales, singular
/// covariance). Faster than the filter if few values of a large network are observed. Cost P^2
/// sources + P^3 / 3 + P^2 rounds for every target whose input reaches the state.
[[nodiscard]] std::optional<std::vector<TargetGram>> whole_run_grams(const ObservationModel& model,
                                                                     std::span<const int> targets);

/// Gram matrices if the noise of a round depends on many earlier rounds, by whitening all
/// observations of the run at once. Cost O(P^3 + P^2 sources rounds) for P observed values in the
/// run.
/// @param model of independent rounds.
/// @param inverse C_time^-1, rounds x rounds, one block per stretch.
/// @throws ConfigError for more than 12000 observed values.
[[nodiscard]] std::vector<TargetGram> dense_temporal_grams(const ObservationModel& model,
                                                           const Eigen::MatrixXd& inverse,
                                                           std::span<const int> targets);

/// a b, or a^T b if transpose_a, by add_product.
[[nodiscard]] Eigen::MatrixXd product(const Eigen::MatrixXd& a,
                                      bool transpose_a,
                                      const Eigen::MatrixXd& b);

/// Appends rows to a matrix with as many columns or without rows.
void append_rows(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& rows);

/// Largest absolute value; 0 of an empty matrix.
[[nodiscard]] double largest_entry(const Eigen::MatrixXd& matrix);

}  // namespace sotto
