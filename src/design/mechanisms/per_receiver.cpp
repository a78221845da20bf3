

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "design/mechanisms/table.hpp"
#include "design/message_plan.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// I - a a^T with a = w_.u / |w_.u|, the weights that the receivers give u.
Eigen::MatrixXd away_from_weights(const MixingMatrix& mixing,
                                  int sender,
                                  std::span<const int> receivers) {
    Eigen::VectorXd a(static_cast<Eigen::Index>(receivers.size()));
    for (std::size_t v = 0; v < receivers.size(); ++v)
        a(static_cast<Eigen::Index>(v)) = mixing.weight(receivers[v], sender);
    a.normalize();
    return Eigen::MatrixXd::Identity(a.size(), a.size()) - a * a.transpose();
}

/// Every agent u adds q_uv = s [(I - a a^T) g]_v to its message for v, itself among the receivers,
/// with a = w_.u / |w_.u| and one fresh stream g_v a receiver: sum_v w_vu q_uv = 0, so the
/// network's mean does not change (docs/equations.md#noise-on-messages).
Design design_zip_dl(const DesignInput& input) {
    require_weights_of_one_sign("zip-dl", *input.mixing);
    NoisePlan plan = start_message_plan("zip-dl", input);
    for (int u = 0; u < plan.agents; ++u) {
        const auto receivers = input.mixing->members(u);
        const Eigen::MatrixXd projection = away_from_weights(*input.mixing, u, receivers);
        std::vector<int> streams;
        for (std::size_t v = 0; v < receivers.size(); ++v) {
            streams.push_back(static_cast<int>(plan.streams.size()));
            plan.streams.push_back({u, v, StreamDistribution::gaussian});
        }
        for (std::size_t v = 0; v < receivers.size(); ++v) {
            const auto row = projection.row(static_cast<Eigen::Index>(v));
            plan.rows.push_back({u, receivers[v], streams, {row.begin(), row.end()}});
        }
    }
    return finish_message_plan(std::move(plan), input);
}

}  // namespace

Mechanism zip_dl_mechanism() {
    return {.name = "zip-dl",
            .summary =
                "noise of an agent's messages that cancels in the mean over agents: weak "
                "against an eavesdropper",
            .design = design_zip_dl,
            .coalitions = true,
            .entry = NoiseEntry::message,
            .uses_utility = false};
}

namespace {

/// [H] eq. 20: z_u to every neighbour, -(c_u / w_uu) z_u on the agent's own copy, with c_u the
/// weight the neighbours give it: sum_v w_vu q_uv = 0, so the network's mean does not change.
Design design_homomorphic(const DesignInput& input) {
    require_weights_of_one_sign("homomorphic", *input.mixing);
    NoisePlan plan = start_laplace_plan("homomorphic", input);
    for (int u = 0; u < plan.agents; ++u) {
        const double own = input.mixing->weight(u, u);
        if (!(own > 0))
            throw ConfigError(fmt::format(
                "mechanism homomorphic: agent {} gives its own model weight {} (must be above 0; "
                "use another --mixing, for example lazy-metropolis)",
                u,
                own));
        double away = 0;
        for (const int v : input.mixing->members(u))
            if (v != u) away += input.mixing->weight(v, u);
        for (const int v : input.mixing->members(u))
            plan.rows.push_back({u, v, {u}, {v == u ? -away / own : 1.0}});
    }
    return finish_message_plan(std::move(plan), input);
}

}  // namespace

Mechanism homomorphic_mechanism() {
    return {
        .name = "homomorphic",
        .summary = "Laplace noise on messages that cancels in the mean over agents: pure epsilon",
        .design = design_homomorphic,
        .distribution = StreamDistribution::laplace,
        .coalitions = true,
        .entry = NoiseEntry::message,
        .uses_utility = false};
}

}  // namespace sotto
