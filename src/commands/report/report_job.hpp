#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/config.hpp"
#include "run/run_subject.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

/// What `sotto report` is asked.
struct ReportConfig {
    std::filesystem::path directory;  ///< of the run
    TrainConfig run;                  ///< of its config.ini
    /// Coalitions with every message, up to this size; none: the largest for which there are no
    /// more than most_observers, or fewer where many agents make each of them much work.
    std::optional<int> coalition_size;
    /// At most so long for partial views of single agents; a tenth of it for coalitions.
    double partial_seconds = 100;
    int threads = 1;
};

/// Observers whose figures a page may hold: with 100 agents 2 MB.
inline constexpr double most_observers = 7000;

/// Epsilon of every agent against every observer of one kind, by the accountant.
struct ObserverFigures {
    View::Kind kind = View::Kind::all_messages;
    Argument argument;
    int agents = 0;
    int smallest = 0;  ///< agents of the smallest observer; 0: the eavesdropper
    /// Observers: coalitions by size, those of one size in lexicographic order.
    long observers = 0;
    /// agents of every observer, one observer after the other; infinity where the protection is
    /// broken; NaN for members and for agents that were never there.
    std::vector<float> epsilon;
    std::string note;  ///< what is left out, and why; empty: nothing
};

/// Figures of all observers a page shows: with every message by the sums the ledger is made of
/// (PrivacyLosses), partial views as `sotto account` gives them. What the accountant cannot give is
/// left out, and `note` says why. Partial views of a run with secure sums are of sums. Cost: an
/// eigendecomposition an observer and phase, at most most_observers unless asked for; then
/// view_sensitivity while time lasts.
[[nodiscard]] std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                                          const ReportConfig& config);

/// One picture of a square of numbers.
struct HeatMap {
    std::string title, unit, text;
    std::string rows, columns;       ///< what they are
    std::vector<std::string> names;  ///< of both
    Eigen::MatrixXd values;
};
/// Noise of every phase: covariance across agents, or what messages carry where that depends on the
/// receiver; and over rounds where they are correlated (sampled above 200 rounds).
[[nodiscard]] std::vector<HeatMap> noise_pictures(const RecordedRun& run);

/// The run's page: HTML that holds everything it shows, and fetches nothing.
struct Report {
    std::string page;
    long observers = 0;  ///< whose figures it holds
    std::vector<std::string> missing;
    double seconds = 0;
};
/// @throws ConfigError if this program was built without the libraries of the page, or coalitions
/// of that size do not exist; DataError for a directory without a readable ledger.
[[nodiscard]] Report make_report(const ReportConfig& config);

}  // namespace sotto
