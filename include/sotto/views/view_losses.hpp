#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/privacy/privacy_record.hpp"
#include "sotto/views/view_record.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// Whether view_losses uses the bound of all messages with the members' seeds: for Laplace noise,
/// secretly sampled rounds, and partial views without has_exact_figures.
[[nodiscard]] bool counts_all_messages(const MessageProcess& process,
                                       const Participation& participation,
                                       const View& view);

/// Squared sensitivity of the targets in one view over process.rounds() rounds; mu, or a pure
/// epsilon under Laplace noise, is Delta sqrt(certified()). Gaussian noise: view_sensitivity, of
/// all messages and the members' seeds without has_exact_figures. Laplace noise:
/// run_sensitivity_squared times observed_precision for all messages and the members' seeds, summed
/// over phases; it bounds every view. Secretly sampled rounds: the same with
/// pattern_sensitivity_squared, summed over phases in the worst pattern, times the largest
/// observed_precision.
/// Partial views of convex losses (ViewOptions::inputs): convex_sensitivity
/// (views/convex_view.hpp).
/// @throws as both; PrivacyError for secure sums of messages that depend on the receiver.
[[nodiscard]] std::vector<SquaredSensitivity> view_losses(const MessageProcess& process,
                                                          const PlanUse& use,
                                                          const View& view,
                                                          std::span<const int> targets,
                                                          const ViewOptions& options);

/// Observers to account for, as a user names them: "coalition:2,5" (docs/accounting.md).
struct ViewQuery {
    const ViewRecord* record = nullptr;
    ViewArguments arguments;
    /// Empty if the worst coalition of arguments.size agents is searched for.
    std::vector<View> observers;

    [[nodiscard]] bool is_search() const {
        return record->asks == ViewRecord::Asks::worst_coalition;
    }
    /// The observer if there is exactly one; otherwise null.
    [[nodiscard]] const View* one_observer() const;
};

/// @throws ConfigError naming the option and what is allowed, for an unknown name, agent or size.
[[nodiscard]] ViewQuery parse_view(std::string_view option,
                                   std::string_view text,
                                   const Graph& graph);
/// In the syntax of parse_view.
[[nodiscard]] std::string name_of(const ViewQuery& query);
/// Several, separated by ';'.
[[nodiscard]] std::vector<ViewQuery> parse_views(std::string_view option,
                                                 std::string_view text,
                                                 const Graph& graph);

}  // namespace sotto
