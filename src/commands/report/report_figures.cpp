#include "commands/report/report_figures.hpp"

#include <fmt/format.h>

#include <utility>

#include "commands/report/full_figures.hpp"
#include "commands/report/partial_figures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                            const ReportConfig& config,
                                            Clock::time_point start) {
    const auto or_why_not = [&](View::Kind kind, int smallest, auto&& figures) {
        try {
            return figures();
        } catch (const Error& error) {
            if (kind == View::Kind::all_messages && config.coalition_size) throw;
            ObserverFigures none = blank_figures(run, kind, smallest);
            none.note = fmt::format("no figures of this view: {}", error.what());
            return none;
        }
    };
    const auto after = [&](double share) {
        return start + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(share * config.time_limit));
    };
    const auto all_messages = [&] {
        return or_why_not(View::Kind::all_messages, 0, [&] {
            return figures_of_all_messages(run, config, after(1));
        });
    };
    if (all_messages_stand_for_partial_views(run)) {
        ObserverFigures all = all_messages();
        ObserverFigures partial = figures_as_of_all_messages(run, all);
        return {std::move(all), std::move(partial)};
    }
    // What single agents learn from their neighbours is what the page begins with.
    ObserverFigures partial = or_why_not(partial_view_of(run), 1, [&] {
        return figures_of_partial_views(run, config, after(0.5), after(0.25));
    });
    ObserverFigures all = all_messages();
    return {std::move(all), std::move(partial)};
}

}  // namespace sotto
