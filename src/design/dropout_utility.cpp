#include "design/dropout_utility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "design/mixing_search.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// W = 1 - sum_e a_e b_e^T over links e = {u, v}, a_e = w_uv e_u - w_vu e_v and b_e = e_u - e_v; a
/// link counts in a round if both ends are present.
class LossyMixing {
  public:
    LossyMixing(const MixingMatrix& mixing, double probability)
        : lost_(probability),
          kept_(1 - probability),
          difference_(-mixing.sparse()),
          links_(static_cast<std::size_t>(mixing.agents())) {
        for (int u = 0; u < mixing.agents(); ++u) difference_.coeffRef(u, u) += 1;
        for (int u = 0; u < mixing.agents(); ++u)
            for (const int v : mixing.members(u))
                if (v != u) add_link(mixing, u, v);
    }

    /// E[W_S^T X W_S] of a symmetric X, exactly symmetric: an antisymmetric part would grow from
    /// step to step.
    [[nodiscard]] MatrixXd mixed(const MatrixXd& x) const {
        const MatrixXd product = x * difference_;
        MatrixXd result = x - kept_ * kept_ * (product + product.transpose());
        add_squares(result, x, product);
        return 0.5 * (result + result.transpose());
    }

    /// E[D W_S^T X W_S D]; W_S D = D - L_S.
    [[nodiscard]] MatrixXd sent(const MatrixXd& x) const {
        const MatrixXd product = x * difference_;
        MatrixXd cross = kept_ * kept_ * kept_ * product;
        add_own_rows(cross, x);
        MatrixXd result = kept_ * kept_ * x - cross - cross.transpose();
        result.diagonal() += kept_ * lost_ * x.diagonal();
        add_squares(result, x, product);
        return result;
    }

    /// E[1{holders present} |W_S f|^2_X], f zero except at the holders: with x = f - sum over links
    /// of holders, those to an outside agent v count together with probability q.
    [[nodiscard]] double recovered(const MatrixXd& x,
                                   const VectorXd& stream,
                                   const std::vector<int>& holders) const {
        VectorXd mean = stream;
        double scatter = 0, all_there = 1;
        MatrixXd outside = MatrixXd::Zero(x.rows(), x.cols());  // by the agent that may be missing
        std::vector<bool> reached(static_cast<std::size_t>(x.rows()), false);
        for (const int u : holders) {
            all_there *= kept_;
            for (const Link& e : links_[static_cast<std::size_t>(u)]) {
                const bool inside = std::ranges::binary_search(holders, e.other);
                if (inside && !e.counted) continue;
                const double slope = stream(u) - stream(e.other);
                const double share = inside ? 1 : kept_;
                mean(u) -= share * slope * e.own;
                mean(e.other) += share * slope * e.back;
                if (inside) continue;
                outside(u, e.other) += slope * e.own;
                outside(e.other, e.other) -= slope * e.back;
                reached[static_cast<std::size_t>(e.other)] = true;
            }
        }
        for (Index v = 0; v < x.rows(); ++v)
            if (reached[static_cast<std::size_t>(v)])
                scatter += outside.col(v).dot(x * outside.col(v));
        return all_there * (mean.dot(x * mean) + kept_ * lost_ * scatter);
    }

  private:
    struct Link {
        int other;
        double own;    // w_uv
        double back;   // w_vu
        bool counted;  // once per link: by the end with the smaller number
    };

    void add_link(const MixingMatrix& mixing, int u, int v) {
        const double own = mixing.weight(u, v), back = mixing.weight(v, u);
        links_[static_cast<std::size_t>(u)].push_back({v, own, back, u < v});
        // On directed graphs v may not hear u, and then does not list the link.
        bool named = false;
        for (const int w : mixing.members(v)) named = named || w == u;
        if (!named) links_[static_cast<std::size_t>(v)].push_back({u, back, own, v < u});
    }

    /// a_e^T X a_f of two links of u.
    static double between(const MatrixXd& x, int u, const Link& e, const Link& f) {
        return e.own * f.own * x(u, u) - e.own * f.back * x(u, f.other) -
               e.back * f.own * x(e.other, u) + e.back * f.back * x(e.other, f.other);
    }

    /// Adds q^2 p to rows u of D X L_S for links of u, which count whenever u's row does.
    void add_own_rows(MatrixXd& cross, const MatrixXd& x) const {
        const double factor = kept_ * kept_ * lost_;
        for (Index u = 0; u < x.rows(); ++u)
            for (const Link& e : links_[static_cast<std::size_t>(u)]) {
                const double value = factor * (e.own * x(u, u) - e.back * x(u, e.other));
                cross(u, u) += value;
                cross(u, e.other) -= value;
            }
    }

    /// Adds E[L_S^T X L_S]: two links have q^4, q^3 with one common end, q^2 if they are the same.
    void add_squares(MatrixXd& result, const MatrixXd& x, const MatrixXd& product) const {
        const double two = kept_ * kept_;
        result += two * two * (difference_.transpose() * product);
        for (Index u = 0; u < x.rows(); ++u) add_squares_at(result, x, static_cast<int>(u));
    }

    void add_squares_at(MatrixXd& result, const MatrixXd& x, int u) const {
        const double common = kept_ * kept_ * kept_ * lost_;
        const double same = kept_ * kept_ * lost_ * lost_;
        const auto& links = links_[static_cast<std::size_t>(u)];
        for (const Link& e : links)
            for (const Link& f : links) {
                const bool one = e.other == f.other && e.counted;
                const double value = between(x, u, e, f) * (common + (one ? same : 0));
                result(u, u) += value;
                result(u, f.other) -= value;
                result(e.other, u) -= value;
                result(e.other, f.other) += value;
            }
    }

    double lost_, kept_;
    SparseRows difference_;  // 1 - W
    std::vector<std::vector<Link>> links_;
};

void require_lossy(const MixingMatrix& mixing, double probability) {
    if (!(probability >= 0 && probability < 1))
        throw ConfigError(
            fmt::format("dropout-probability: {} (allowed: from 0 to below 1)", probability));
    if (mixing.push_sum())
        throw ConfigError(
            "dropout-probability: not with push-sum, which would lose the sums of messages that do "
            "not arrive (allowed: mixing whose rows sum to 1)");
}

/// Y_1: the weight of models after the first round.
MatrixXd later_utility(const LossyMixing& lossy, const UtilityWeights& weights, Index agents) {
    MatrixXd later = MatrixXd::Zero(agents, agents);
    for (long age = weights.length; age >= 1; --age) {
        if (age < weights.length) later = lossy.mixed(later);
        later.diagonal().array() += weights.at(age);
    }
    return later;
}

}  // namespace

MatrixXd dropout_utility(const MixingMatrix& mixing,
                         const Utility& utility,
                         long rounds,
                         double probability) {
    require_lossy(mixing, probability);
    const LossyMixing lossy(mixing, probability);
    const MatrixXd result =
        lossy.sent(later_utility(lossy, utility_weights(utility, rounds), mixing.agents()));
    return 0.5 * (result + result.transpose());
}

double recovered_noise(const NoisePlan& plan,
                       const MixingMatrix& mixing,
                       const Utility& utility,
                       long rounds,
                       double probability) {
    require_lossy(mixing, probability);
    const LossyMixing lossy(mixing, probability);
    const MatrixXd later = later_utility(lossy, utility_weights(utility, rounds), mixing.agents());
    const MatrixXd streams = plan.scale * plan.coefficient_matrix();
    double sum = 0;
    for (std::size_t k = 0; k < plan.streams.size(); ++k)
        sum +=
            lossy.recovered(later,
                            streams.col(static_cast<Index>(k)),
                            plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members);
    return sum;
}

}  // namespace sotto
