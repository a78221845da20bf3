#include "views/past_noise.hpp"

#include <utility>

namespace sotto {

namespace {

/// Puts v(t) in place of the fresh noise of these rows. @param past where h_1 begins in the state
/// before.
void correlate(RowEntries& rows, const ViewRounds& rounds, long round, int past) {
    const LaggedNoise& noise = rounds.noise_at(round);
    const long within = rounds.within_stretch(round);
    const auto sources = static_cast<int>(rounds.sources_at(round).index.size());
    const double scale = noise.lags > 0 ? rounds.noise_factor(round) : 1.0;
    for (const auto& entry : std::exchange(rows.from_sources, {})) {
        rows.from_sources.emplace_back(
            entry.row(), entry.col(), scale * noise.fresh(within) * entry.value());
        if (within == 0) continue;
        for (int j = 0; j < noise.lags; ++j)
            if (noise.past(within, j) != 0)
                rows.from_state.emplace_back(entry.row(),
                                             past + j * sources + entry.col(),
                                             scale * noise.past(within, j) * entry.value());
    }
}

/// h_1, h_2, ... after a round that drew noise: h_1 is its noise, the others move on.
void add_shifted(RowEntries& state, const LaggedNoise& noise, long within, int sources, int past) {
    const auto begin = static_cast<int>(state.rows);
    for (int i = 0; i < sources && noise.lags > 0; ++i) {
        state.from_sources.emplace_back(
            begin + i, i, noise.remembers_noise ? noise.fresh(within) : 1.0);
        if (within == 0) continue;
        for (int j = 0; j < noise.lags; ++j) {
            if (noise.remembers_noise && noise.past(within, j) != 0)
                state.from_state.emplace_back(
                    begin + i, past + j * sources + i, noise.past(within, j));
            if (j + 1 < noise.lags)
                state.from_state.emplace_back(
                    begin + (j + 1) * sources + i, past + j * sources + i, 1.0);
        }
    }
}

/// h_1, h_2, ... after a gossip step that drew none.
void add_unchanged(RowEntries& state, int lags, int sources, int past) {
    const auto begin = static_cast<int>(state.rows);
    for (int i = 0; i < sources; ++i)
        for (int j = 0; j < lags; ++j)
            state.from_state.emplace_back(begin + j * sources + i, past + j * sources + i, 1.0);
}

}  // namespace

Eigen::Index past_noise_size(const ViewRounds& rounds, long round) {
    return rounds.noise_at(round).lags * rounds.sources_at(round).index.size();
}

StepEntries with_past_noise(StepEntries entries, const ViewRounds& rounds, long round, int step) {
    const LaggedNoise& noise = rounds.noise_at(round);
    const auto sources = static_cast<int>(rounds.sources_at(round).index.size());
    const auto past = static_cast<int>(entries.previous);
    if (step == 0) {
        correlate(entries.state, rounds, round, past);
        correlate(entries.observed, rounds, round, past);
        add_shifted(entries.state, noise, rounds.within_stretch(round), sources, past);
        if (round > 0) entries.previous += past_noise_size(rounds, round - 1);
    } else {
        add_unchanged(entries.state, noise.lags, sources, past);
        entries.previous += past_noise_size(rounds, round);
    }
    entries.state.rows += past_noise_size(rounds, round);
    return entries;
}

}  // namespace sotto
