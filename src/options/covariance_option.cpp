#include "options/covariance_option.hpp"

#include "options/option_bindings.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

/// It says the mechanism, too, for which it has to be read before --mechanism.
Binding<PlanConfig> covariance_file() {
    return {OptionKind::value,
            among_others("", {"FILE.npy"}),
            [](PlanConfig& config, const std::string& option, const std::string& text) {
                config.covariance_file = some_text().read(option, text);
                config.mechanism = mechanisms_with(&Mechanism::takes_covariance).front();
            },
            [](const PlanConfig& config) { return config.covariance_file; }};
}

}  // namespace

std::vector<Option<PlanConfig>> covariance_options() {
    return {{{.name = "covariance",
              .help = "FILE.npy: n x n numbers that say how the noise of agents is correlated, for "
                      "mechanism covariance, which it chooses",
              .details = R"(
A mechanism of one's own: R of [equations](../equations.md) 3, symmetric and positive definite, float64. It is scaled so that the agent
it hides least has its whole budget; what else can be said of a mechanism can be said of it. Where every variance exceeds the sum
of the absolute values beside it, the noise is private noise and noise that pairs of agents share, and any `--coalition-size`
is possible. Otherwise it comes from one seed that all agents share, as with `corn`: any agent can remove all of it, and the ledger says so. Every
rank compares the plan with its own file. For other noise than such, a plan of one's own: [the plan file](../plan-file.md).)",
              .peers_may_set = false},
             covariance_file()}};
}

}  // namespace sotto
