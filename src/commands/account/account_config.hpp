#pragma once

#include <string>

#include "run/account_subject.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {

/// What `sotto account` is asked.
struct AccountConfig {
    SubjectConfig subject;
    std::string view = "all-nodes";
    std::string targets = "all";
    ViewOptions how;
};

}  // namespace sotto
