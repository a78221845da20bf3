#pragma once

#include <string_view>

#include "sotto/views/view_record.hpp"

namespace sotto {

/// What follows the name of a view.
struct ViewParameter {
    std::string_view placeholder;  ///< in help texts; empty: nothing follows
    std::string_view what;
    std::string_view example;
};
[[nodiscard]] ViewParameter parameter_of(ViewRecord::Takes takes);

}  // namespace sotto
