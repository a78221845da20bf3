#include "account/account_conversion.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/json_output.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

Conversion convert_mu(double mu, double delta) {
    return {mu, gdp_epsilon(mu, delta), delta, rdp_epsilon(mu, delta)};
}

Conversion convert_epsilon(double epsilon, double delta) {
    const double mu = gdp_mu(epsilon, delta);
    return {mu, epsilon, delta, rdp_epsilon(mu, delta)};
}

std::string conversion_json(const Conversion& conversion) {
    nlohmann::ordered_json json;
    json["mu"] = conversion.mu;
    json["epsilon"] = conversion.epsilon;
    json["delta"] = conversion.delta;
    json["renyi_alpha2"] = conversion.mu * conversion.mu;
    json["rdp_epsilon"] = conversion.rdp_epsilon;
    return to_text(json);
}

std::string conversion_text(const Conversion& conversion) {
    return fmt::format(
        "mu {:.9g} is epsilon {:.9g} at delta {:g} (exact; by Renyi divergence {:.9g}); "
        "Renyi divergence of order 2: {:.9g}\n",
        conversion.mu,
        conversion.epsilon,
        conversion.delta,
        conversion.rdp_epsilon,
        conversion.mu * conversion.mu);
}

}  // namespace sotto
