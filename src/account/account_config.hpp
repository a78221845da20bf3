#pragma once

#include <optional>
#include <string>

#include "account/account_subject.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// What `sotto account` is asked.
struct AccountConfig {
    SubjectConfig subject;
    std::string view = "all-nodes";
    std::string targets = "all";
    ViewOptions how;
    std::optional<int> dropouts;  ///< agents whose messages may be missing in a round
    std::string missing;          ///< or which are, in every round: "a,b"
};

}  // namespace sotto
