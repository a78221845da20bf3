#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view.hpp"
#include "sotto/views/view_record.hpp"

namespace sotto {

/// Observers to account for, as a user names them: "coalition:2,5" (docs/accounting.md).
struct ViewQuery {
    const ViewRecord* record = nullptr;
    ViewArguments arguments;
    /// Nobody where the worst coalition of arguments.size agents is searched for.
    std::vector<View> observers;

    [[nodiscard]] bool is_search() const {
        return record->asks == ViewRecord::Asks::worst_coalition;
    }
    /// Whom it asks about, if it is one observer; null otherwise.
    [[nodiscard]] const View* one_observer() const;
};

/// @throws ConfigError naming the option and what is allowed, for a name, an agent or a size that
/// does not exist.
[[nodiscard]] ViewQuery parse_view(std::string_view option,
                                   std::string_view text,
                                   const Graph& graph);
/// As parse_view reads it.
[[nodiscard]] std::string name_of(const ViewQuery& query);
/// Several, separated by ';'.
[[nodiscard]] std::vector<ViewQuery> parse_views(std::string_view option,
                                                 std::string_view text,
                                                 const Graph& graph);

}  // namespace sotto
