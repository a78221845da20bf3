#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "views/adjoint_grams.hpp"
#include "views/response_tree.hpp"
#include "views/target_grams.hpp"
#include "views/temporal_model.hpp"
#include "views/view_filter.hpp"

namespace sotto {

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

}  // namespace sotto
