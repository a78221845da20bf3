#include "sotto/design/mixing_design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/numbers.hpp"
#include "design/mixing_search.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Price on variance that approximates noise against coalitions. For `pairs` against any one agent,
/// the resulting weights lost 0.2 and 0.34% against those found in turns (two graphs of 20 agents),
/// those of free noise 1 and 6%. Prices from 0.1 to 1 differ little.
constexpr double price_of_privacy = 0.3;

/// Approximate floating-point operations of one design.
double cost_of_design(const MixingDesignInput& input, const Mechanism& mechanism) {
    const double n = input.graph->agents();
    const double coalitions = count_coalitions(input.graph->agents(), input.coalition_size);
    if (input.seed_groups.empty()) return 50 * coalitions * n * n * n;
    double unknowns = n;
    for (const SeedGroup& group : input.seed_groups) {
        const auto size = static_cast<double>(group.members.size());
        unknowns += mechanism.larger_groups ? size * (size + 1) / 2 : size - 1;
    }
    return 80 * coalitions * n * unknowns * unknowns;
}

/// The mechanism whose designs rate weights; null if too slow.
const Mechanism* judging_mechanism(const MixingDesignInput& input) {
    constexpr double dear = 6e9;
    const Mechanism* judge = input.mechanism;
    if (judge == nullptr) return nullptr;
    const bool pairs = std::ranges::all_of(
        input.seed_groups, [](const SeedGroup& group) { return group.members.size() == 2; });
    if (judge->larger_groups && pairs && !input.seed_groups.empty()) {
        // Differences of pairs are nearly as good, and much faster.
        const auto names = mechanisms_with([](const Mechanism& other) {
            return other.seed_groups() && !other.larger_groups && shapes_mixing(other);
        });
        if (!names.empty()) judge = &find_mechanism("mechanism", names.front());
    }
    if (judge->sharing == SeedSharing::everybody || judge->sharing == SeedSharing::nobody)
        return judge;
    return cost_of_design(input, *judge) > dear ? nullptr : judge;
}

/// Edge weights as rated by the judge.
struct JudgedWeights {
    VectorXd weights;
    MatrixXd covariance{};  // R
    double objective = infinity;
};

/// Compares weights by the noise designed for them.
class MixingJudge {
  public:
    MixingJudge(const MixingDesignInput& input, const MixingSearch& search)
        : input_(input), search_(search), mechanism_(judging_mechanism(input)) {}

    [[nodiscard]] std::string name() const {
        if (input_.covariance) return "the plan's noise";
        if (mechanism_ != nullptr) return mechanism_->name;
        return input_.mechanism == nullptr ? "independent noise" : "priced noise";
    }
    [[nodiscard]] JudgedWeights judge(VectorXd weights) const {
        const MixingMatrix mixing = search_.mixing(weights);
        const DesignInput design = design_input(mixing);
        JudgedWeights judged{std::move(weights)};
        if (!input_.covariance && mechanism_ != nullptr) {
            const Design found = mechanism_->design(design);
            judged.objective = found.objective;
            judged.covariance = spatial_covariance(found.plan);
            return judged;
        }
        const int n = mixing.agents();
        const BestNoise noise = input_.covariance ? given_noise(*input_.covariance)
                                : input_.mechanism == nullptr
                                    ? given_noise(MatrixXd::Identity(n, n))
                                    : free_noise(price_of_privacy);
        judged.objective = noise(design_utility(design)).value;
        return judged;
    }
    /// Alternates between R for the weights and weights for R while it helps, if R is restricted
    /// and a design is fast.
    [[nodiscard]] JudgedWeights in_turns(JudgedWeights best) const {
        constexpr int steps = 60;
        for (int turn = 0; turn < turns(); ++turn) {
            const FoundMixing found =
                search_.descend_from(given_noise(best.covariance), best.weights, steps);
            JudgedWeights next = judge(MixingSearch::rounded(found.weights));
            if (!(next.objective < best.objective)) break;
            const bool enough = next.objective > best.objective * (1 - 1e-4);
            best = std::move(next);
            if (enough) break;
        }
        return best;
    }
    /// Whether many designs take no time.
    [[nodiscard]] bool quick() const { return turns() == most_turns; }

  private:
    static constexpr int most_turns = 12;
    [[nodiscard]] int turns() const {
        constexpr double together = 8e9;
        if (input_.covariance || mechanism_ == nullptr ||
            mechanism_->sharing == SeedSharing::nobody ||
            mechanism_->sharing == SeedSharing::everybody)
            return 0;
        return static_cast<int>(
            std::clamp(together / cost_of_design(input_, *mechanism_), 2.0, double{most_turns}));
    }
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
        design.gap = input_.gap;
        design.coalition_size = input_.coalition_size;
        design.common_variance = input_.common_variance;
        design.seed_groups = input_.seed_groups;
        return design;
    }

    const MixingDesignInput& input_;
    const MixingSearch& search_;
    const Mechanism* mechanism_;
};

/// Start points: local optima for noise that is fast to compute.
std::vector<VectorXd> quick_optima(const MixingDesignInput& input, const MixingSearch& search) {
    const int n = input.graph->agents();
    const auto best = [&](const std::function<BestNoise()>& make, std::vector<VectorXd> more) {
        return MixingSearch::rounded(search.best_of_starts(make, more).weights);
    };
    if (input.covariance) return {best([&] { return given_noise(*input.covariance); }, {})};
    const VectorXd independent = best([n] { return given_noise(MatrixXd::Identity(n, n)); }, {});
    if (input.mechanism == nullptr || input.mechanism->sharing == SeedSharing::nobody)
        return {independent};
    const auto priced = [] { return free_noise(price_of_privacy); };
    if (!input.seed_groups.empty() && input.coalition_size > 0)
        return {best(priced, {independent})};
    const VectorXd free = best([] { return free_noise(); }, {independent});
    if (input.mechanism->sharing == SeedSharing::everybody) return {free, independent};
    return {free, independent, best(priced, {independent})};
}

/// With the gossip polynomial held fixed.
JudgedWeights designed_weights(const MixingDesignInput& input,
                               const GossipPolynomial& gossip,
                               bool last) {
    const MixingSearch search(input, gossip);
    const MixingJudge judge(input, search);
    JudgedWeights best{search.starts().front()};
    for (VectorXd& weights : quick_optima(input, search)) {
        JudgedWeights other = judge.judge(std::move(weights));
        if (judge.quick()) other = judge.in_turns(std::move(other));
        if (other.objective < best.objective) best = std::move(other);
    }
    return judge.quick() || !last ? best : judge.in_turns(std::move(best));
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
    if (input.graph->edges().empty()) return {metropolis, not_a_number, not_a_number, "nothing", 0};
    const MixingSearch search(input, 1);
    const MixingJudge judge(input, search);
    JudgedWeights best = judge.judge(search.edges().weights_of(metropolis));
    const double before = best.objective;
    const int rounds = input.gossip_rule == GossipRule::plain ? 1 : 3;
    for (int round = 0; round < rounds; ++round) {
        const GossipPolynomial gossip =
            gossip_polynomial(search.mixing(best.weights), input.gossip_rule, input.gossip_steps);
        JudgedWeights next = designed_weights(input, gossip, round + 1 == rounds);
        if (!(next.objective < best.objective)) break;
        best = std::move(next);
    }
    MixingMatrix mixing = search.mixing(best.weights);
    const double modulus = MixingPoint(mixing.dense()).modulus();
    return {std::move(mixing), best.objective, before, judge.name(), modulus};
}

}  // namespace sotto
