#include "commands/report/report_figures.hpp"

#include <fmt/format.h>

#include "commands/report/full_figures.hpp"
#include "commands/report/partial_figures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/stopwatch.hpp"

namespace sotto {

std::vector<ObserverFigures> report_figures(const RecordedRun& run, const ReportConfig& config) {
    const auto or_why_not = [&](View::Kind kind, int smallest, auto&& figures) {
        try {
            return figures(run, config);
        } catch (const Error& error) {
            if (kind == View::Kind::all_messages && config.coalition_size) throw;
            ObserverFigures none = blank_figures(run, kind, smallest);
            none.note = fmt::format("no figures of this view: {}", error.what());
            return none;
        }
    };
    return {or_why_not(View::Kind::all_messages, 0, figures_of_all_messages),
            or_why_not(partial_view_of(run), 1, figures_of_partial_views)};
}

}  // namespace sotto
