#include "commands/sweep/sweep_board.hpp"

#include <algorithm>
#include <utility>

#include "commands/sweep/sweep_choice.hpp"
#include "commands/sweep/sweep_scale.hpp"

namespace sotto {

namespace {

/// @return whether all have ended.
bool take_in(std::vector<SweepRow>& rows, const SweepBoard::OutcomeOf& outcome_of) {
    bool all = true;
    for (SweepRow& row : rows) {
        if (!row.outcome) row.outcome = outcome_of(row.training);
        all = all && row.outcome;
    }
    return all;
}

void add_rows(std::vector<SweepRow>& rows, std::vector<SweepTraining> trainings) {
    for (SweepTraining& training : trainings) rows.push_back({std::move(training), std::nullopt});
}

}  // namespace

SweepBoard::SweepBoard(SweepConfig config)
    : config_(std::move(config)), cells_(sweep_cells(config_)), results_(cells_.size()) {
    for (std::size_t c = 0; c < cells_.size(); ++c)
        for (std::size_t k = 0; k < cells_[c].candidates.size(); ++k)
            if (cells_[c].candidates.size() > 1) add_candidate(c, k, false);
}

void SweepBoard::update(const OutcomeOf& outcome_of) {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        while (!results_[c].candidate && take_in(results_[c].validation, outcome_of)) go_on(c);
        (void)take_in(results_[c].test, outcome_of);
    }
}

void SweepBoard::go_on(std::size_t cell) {
    SweepCell& place = cells_[cell];
    CellResult& result = results_[cell];
    const std::size_t best =
        best_candidate(result.validation, place.candidates.size(), config_.choose_by);
    std::vector<OptionValues> untried;
    result.at_edge = false;
    for (const auto& neighbour : neighbours_of(place, best)) {
        const auto known = neighbour ? candidate_with(place, *neighbour) : std::nullopt;
        if (!known || !is_judged(result.validation, *known)) result.at_edge = true;
        if (neighbour && !known) untried.push_back(*neighbour);
    }
    if (untried.empty() || !has_ended_well(result.validation, best)) return choose(cell, best);
    for (const OptionValues& values : untried) {
        place.candidates.push_back(values);
        add_candidate(cell, place.candidates.size() - 1, true);
    }
}

void SweepBoard::add_candidate(std::size_t cell, std::size_t candidate, bool further) {
    std::vector<SweepTraining> trainings = validation_trainings(config_, cells_, cell, candidate);
    for (SweepTraining& training : trainings) training.further = further;
    add_rows(results_[cell].validation, std::move(trainings));
}

void SweepBoard::choose(std::size_t cell, std::size_t candidate) {
    results_[cell].candidate = candidate;
    add_rows(results_[cell].test, test_trainings(config_, cells_, cell, candidate));
}

std::vector<SweepTraining> SweepBoard::open() const {
    std::vector<SweepTraining> trainings;
    for (const auto rows : {&CellResult::validation, &CellResult::test})
        for (const CellResult& result : results_)
            for (const SweepRow& row : result.*rows)
                if (!row.outcome) trainings.push_back(row.training);
    return trainings;
}

long SweepBoard::later() const {
    return std::ssize(config_.seeds) *
           std::ranges::count_if(results_,
                                 [](const CellResult& result) { return !result.candidate; });
}

long SweepBoard::trainings() const {
    long count = later();
    for (const CellResult& result : results_)
        count += std::ssize(result.validation) + std::ssize(result.test);
    return count;
}

bool SweepBoard::may_grow() const {
    for (std::size_t c = 0; c < cells_.size(); ++c)
        if (!results_[c].candidate && has_untried_values(cells_[c])) return true;
    return false;
}

}  // namespace sotto
