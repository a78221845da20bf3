// An option of a user's own: `--damping`, which every rank must agree on.

#include "extension/added_option.hpp"

#include "options/option_set.hpp"
#include "options/plan_options.hpp"

namespace sotto {

double& extension::damping() {
    static double value = 0.5;
    return value;
}

namespace {

const Registered<Option<AskedPlan>> added(
    plan_options().options,
    {{.name = "damping", .help = "how much, {}", .ranks_must_agree = true},
     bound(
         [](auto&) -> auto& { return extension::damping(); }, real_between(0, 1))});

}  // namespace
}  // namespace sotto
