#include "sotto/noise/mixing_design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "noise/mixing_search.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Designs of the mechanism itself, for turns between W and R.
constexpr int most_turns = 12;

/// What stands between agents' noise and M: how dear one design is, in products of numbers.
double cost_of_design(const MixingDesignInput& input) {
    const double n = input.graph->agents();
    double unknowns = n;
    for (const SeedGroup& group : input.seed_groups) {
        const auto size = static_cast<double>(group.members.size());
        unknowns += input.mechanism->larger_groups ? size * (size + 1) / 2 : size - 1;
    }
    const double coalitions = count_coalitions(input.graph->agents(), input.coalition_size);
    return coalitions * n * unknowns * unknowns;
}

/// Protects against coalitions too, with seeds of neighbours: what stands in for dear designs.
const Mechanism& quick_judge() {
    const auto names = recommended_mechanisms([](const Mechanism& mechanism) {
        return mechanism.spatial_part && mechanism.coalitions &&
               mechanism.sharing == SeedSharing::neighbours;
    });
    return find_mechanism("mechanism", names.front());
}

/// Edge weights as the mechanism that judges them sees them.
struct JudgedWeights {
    VectorXd weights;
    MatrixXd covariance;  // R
    double objective = infinity;
};

/// What weights are made for, and the mechanism by whose noise they are compared.
class MixingJudge {
  public:
    MixingJudge(const MixingDesignInput& input, const MixingSearch& search)
        : input_(input), search_(search), mechanism_(input.mechanism) {
        constexpr double dear = 3e8, cheap = 2e6;
        if (mechanism_ == nullptr || input.covariance) {
            turns_ = 0;
        } else if (mechanism_->seed_groups()) {
            const double cost = cost_of_design(input);
            turns_ = static_cast<int>(std::clamp(2e8 / cost, 2.0, double{most_turns}));
            if (cost > dear) mechanism_ = &quick_judge();
            if (cost > dear || cost < cheap) turns_ = most_turns;
        } else {
            turns_ = mechanism_->sharing == SeedSharing::neighbours ? most_turns : 0;
        }
    }

    [[nodiscard]] std::string name() const {
        if (input_.covariance) return "plan";
        return mechanism_ == nullptr ? "independent noise" : mechanism_->name;
    }
    [[nodiscard]] JudgedWeights judge(VectorXd weights) const {
        JudgedWeights judged{std::move(weights), {}, infinity};
        const MixingMatrix mixing = search_.mixing(judged.weights);
        DesignInput design = design_input(mixing);
        if (input_.covariance || mechanism_ == nullptr) {
            judged.covariance = input_.covariance.value_or(
                MatrixXd::Identity(mixing.agents(), mixing.agents()));
            judged.objective =
                design_utility(design).cwiseProduct(judged.covariance).sum();
            return judged;
        }
        const Design found = mechanism_->design(design);
        judged.objective = found.objective;
        judged.covariance = spatial_covariance(found.plan);
        return judged;
    }
    /// R for these weights, weights for this R, and again, while it helps.
    [[nodiscard]] JudgedWeights in_turns(JudgedWeights best) const {
        constexpr int steps = 60;
        for (int turn = 0; turn < turns_; ++turn) {
            const FoundMixing found =
                search_.descend_from(given_noise(best.covariance), best.weights, steps);
            JudgedWeights next = judge(MixingSearch::rounded(found.weights));
            fmt::print(stderr, "   turn {} {} -> {}\n", turn, best.objective, next.objective);
            if (!(next.objective < best.objective)) break;
            const bool enough = next.objective > best.objective * (1 - 1e-5);
            best = std::move(next);
            if (enough) break;
        }
        return best;
    }

  private:
    [[nodiscard]] DesignInput design_input(const MixingMatrix& mixing) const {
        DesignInput design;
        design.graph = input_.graph;
        design.mixing = &mixing;
        design.utility = input_.utility;
        design.rounds = input_.rounds;
        design.gossip = gossip_polynomial(mixing, input_.gossip_rule, input_.gossip_steps);
        design.smoothing = input_.smoothing;
        design.kappa = VectorXd::Ones(input_.graph->agents());
        design.variance_cap = input_.variance_cap;
        design.coalition_size = input_.coalition_size;
        design.common_variance = input_.common_variance;
        design.seed_groups = input_.seed_groups;
        return design;
    }

    const MixingDesignInput& input_;
    const MixingSearch& search_;
    const Mechanism* mechanism_;
    int turns_ = 0;
};

/// Local optima for noise that is quick to find, to begin from.
std::vector<VectorXd> quick_optima(const MixingDesignInput& input, const MixingSearch& search) {
    const int n = input.graph->agents();
    if (input.covariance)
        return {search.best_of_starts([&] { return given_noise(*input.covariance); }, {}).weights};
    const auto independent = [n] { return given_noise(MatrixXd::Identity(n, n)); };
    std::vector<VectorXd> optima{search.best_of_starts(independent, {}).weights};
    if (input.mechanism != nullptr && input.mechanism->sharing != SeedSharing::nobody)
        optima.push_back(search.best_of_starts(free_noise, optima).weights);
    return optima;
}

/// With the polynomial of a round's exchanges fixed to what it is for some weights.
VectorXd designed_weights(const MixingDesignInput& input, const GossipPolynomial& gossip) {
    const MixingSearch search(input, gossip);
    const MixingJudge judge(input, search);
    JudgedWeights best = judge.judge(search.starts().front());
    for (const VectorXd& weights : quick_optima(input, search)) {
        JudgedWeights other = judge.judge(MixingSearch::rounded(weights));
        fmt::print(stderr, "  candidate {} ({})\n", other.objective, best.objective);
        if (other.objective < best.objective) best = std::move(other);
    }
    return judge.in_turns(std::move(best)).weights;
}

}  // namespace

bool shapes_mixing(const Mechanism& mechanism) {
    return mechanism.independent_rounds() && mechanism.aggregation == Aggregation::gossip;
}

MixingDesign design_mixing(const MixingDesignInput& input) {
    if (input.mechanism != nullptr && !input.covariance && !shapes_mixing(*input.mechanism))
        throw ConfigError(fmt::format(
            "mixing: optimised is not possible with mechanism {}, of whose noise Tr(M R) does not "
            "say what mixing leaves (allowed: another --mixing, or {})",
            input.mechanism->name,
            join(mechanisms_with(shapes_mixing), ", ")));
    const MixingMatrix metropolis = MixingMatrix::from_rule(*input.graph, MixingRule::metropolis);
    const MixingSearch search(input, 1);
    const MixingJudge judge(input, search);
    JudgedWeights best = judge.judge(search.edges().weights_of(metropolis));
    const double before = best.objective;
    const int rounds = input.gossip_rule == GossipRule::plain ? 1 : 3;
    for (int round = 0; round < rounds && search.edges().edges() > 0; ++round) {
        const GossipPolynomial gossip = gossip_polynomial(
            search.mixing(best.weights), input.gossip_rule, input.gossip_steps);
        JudgedWeights next = judge.judge(designed_weights(input, gossip));
        if (!(next.objective < best.objective)) break;
        best = std::move(next);
    }
    MixingMatrix mixing = search.mixing(best.weights);
    const double modulus = MixingPoint(mixing.dense()).modulus();
    return {std::move(mixing), best.objective, before, judge.name(), modulus};
}

}  // namespace sotto
