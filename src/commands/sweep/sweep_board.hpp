#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "commands/sweep/sweep_config.hpp"
#include "commands/sweep/sweep_grid.hpp"
#include "commands/sweep/sweep_outcome.hpp"
#include "commands/sweep/sweep_result.hpp"

namespace sotto {

/// The cells of a sweep, how far each has come, and which trainings it needs next. While the best
/// candidate of a cell has a neighbour (neighbours_of) that is no candidate yet, that becomes one,
/// if the best has ended well; then the best is chosen, and measured. What comes next follows from
/// how trainings have ended, whoever trained them, so that processes that see the same outcomes
/// need not tell each other. LOCAL.
class SweepBoard {
  public:
    using OutcomeOf = std::function<std::optional<SweepOutcome>(const SweepTraining&)>;

    /// @throws ConfigError as sweep_cells does.
    explicit SweepBoard(SweepConfig config);

    /// Takes in how trainings have ended and goes on with their cells. Asks about every training
    /// again until it has ended, and never after.
    /// @throws ConfigError if the trainings have no figure `choose_by`.
    void update(const OutcomeOf& outcome_of);

    /// Trainings that are needed, as far as is known, and have not ended: those that choose, cell
    /// by cell, then those that measure.
    [[nodiscard]] std::vector<SweepTraining> open() const;
    /// How many will measure cells whose candidate is not chosen yet.
    [[nodiscard]] long later() const;
    /// All, those that have ended and `later` ones among them.
    [[nodiscard]] long trainings() const;
    /// Whether there may be more than these: a cell may still try further values.
    [[nodiscard]] bool may_grow() const;

    [[nodiscard]] const std::vector<SweepCell>& cells() const { return cells_; }
    [[nodiscard]] const std::vector<CellResult>& results() const { return results_; }

  private:
    void go_on(std::size_t cell);
    void add_candidate(std::size_t cell, std::size_t candidate, bool further);
    void choose(std::size_t cell, std::size_t candidate);

    SweepConfig config_;
    std::vector<SweepCell> cells_;
    std::vector<CellResult> results_;  // one per cell
};

}  // namespace sotto
