#pragma once

#include <Eigen/Dense>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "privacy/pairwise_noise.hpp"

namespace sotto {

/// What is left over of a flow at an agent costs at most w_v times its square: (R^(I))^-1 <=
/// diag(w), in the order of symmetric matrices, on agents outside a coalition I.
///
/// For any y > 0, R >= diag(g / y) where g = C y is positive; C is R with the signs of a Laplacian,
/// R_uu and -|R_uv|. So w = y / g. y is near the least solution of C^(I) y >= 1 for all coalitions
/// of a size at once, a mean number of steps until a walk along pairs ends in private noise.
class GroundCosts {
  public:
    /// Cost: some hundred passes over the pairs, if private noise is rare.
    GroundCosts(const PairwiseNoise& noise, int coalition_size);
    /// y.
    [[nodiscard]] double length(int agent) const { return length_(agent); }
    /// g against an eavesdropper, rounded down.
    [[nodiscard]] double margin(int agent) const { return margin_(agent); }
    /// w against the worst coalition of the size; infinite if no bound was found, as where a
    /// coalition leaves some agent that pairs lead to without any noise.
    [[nodiscard]] double against_all(int agent) const { return against_all_(agent); }

  private:
    Eigen::VectorXd length_, margin_, against_all_;
};

/// Bounds on [(R^(I))^-1]_uu of one agent from a flow near it. Thomson's principle with what is
/// left over grounded at w (GroundCosts): for every x, with r = e_u - R x,
///
///     x_u + x.r  <=  [R^-1]_uu  <=  x_u + x.r + sum_v w_v r_v^2.
///
/// x comes from conjugate gradients on agents near u, which are added where most would be left
/// over. Without a coalition it is a multiple of that x, changed near the coalition and u only. The
/// bounds hold whatever x is, and count rounding. An object is for one thread; memory: linear in
/// the agents.
class LocalFlow {
  public:
    struct Bounds {
        double lower = 0, upper = 0;
    };
    struct Options {
        double tolerance = 3e-4;  ///< relative distance of the bounds that is aimed at
        int most_agents = 4000;   ///< with a flow; the bounds then are what they are
        int most_steps = 60;      ///< of conjugate gradients at a time
        int most_rounds = 8;      ///< of adding agents to the flow without a coalition
    };

    /// @param noise, costs must outlive this.
    LocalFlow(const PairwiseNoise& noise, const GroundCosts& costs);

    /// Bounds on [R^-1]_uu; the flow is then that of all noise.
    Bounds start(int agent, const Options& options);
    /// Bounds on [(R^(I))^-1]_uu, from the flow of `start`, which is kept; the present flow is then
    /// that of I. @param coalition of at most the size for which the costs are; without the agent.
    Bounds without(std::span<const int> coalition, const Options& options);

    /// Upper bounds without v besides, for every place v, from what goes through v in the present
    /// flow; nothing is solved. 0 at the agent itself and at members. Cost: the links near.
    [[nodiscard]] std::vector<double> bounds_without_one();
    /// Upper bound without `size` more agents, all of them `far`.
    [[nodiscard]] double far_bound(int size, const std::function<bool(int agent)>& far);
    /// The far agents through which most flows.
    [[nodiscard]] std::vector<int> most_through(const std::function<bool(int agent)>& far);

    /// Agents near: those with a flow, and neighbours of them. A place is an index into it.
    [[nodiscard]] std::span<const int> near() const { return near_; }
    /// Place of an agent; -1 if it is not near.
    [[nodiscard]] int place(int agent) const { return place_[static_cast<std::size_t>(agent)]; }
    /// Places of agents that may have a flow.
    [[nodiscard]] std::span<const int> inside() const { return inside_; }
    [[nodiscard]] bool is_inside(int place) const { return entered_[at(place)]; }
    /// Places of the other ends of the links of an agent inside, in the order of its links.
    [[nodiscard]] std::span<const int> ends(int place) const {
        return {ends_.data() + ranges_[at(place)].first, ranges_[at(place)].second};
    }
    /// Index of the first of them among all ends.
    [[nodiscard]] std::size_t first_end(int place) const { return ranges_[at(place)].first; }
    [[nodiscard]] std::size_t all_ends() const { return ends_.size(); }

    /// x of the flow of `start` at a place; 0 at places that are not inside.
    [[nodiscard]] double base(int place) const { return x_[at(place)]; }
    /// The present flow is this times that of `start`, except at `changed` places.
    [[nodiscard]] double multiple() const { return multiple_; }
    [[nodiscard]] std::span<const int> changed() const { return core_; }
    [[nodiscard]] bool is_changed(int place) const { return in_core_[at(place)]; }
    /// Whether the coalition of the present flow has the agent at a place.
    [[nodiscard]] bool out(int place) const { return out_[at(place)]; }
    /// x of the present flow.
    [[nodiscard]] double potential(int place) const {
        return out(place) ? 0 : multiple_ * x_[at(place)] + change_[at(place)];
    }

  private:
    static std::size_t at(int place) { return static_cast<std::size_t>(place); }
    /// A new place has its values after make_room.
    int place_of(int agent);
    void make_room();
    void enter(int place);
    void forget();
    [[nodiscard]] double row_times(int place, const std::vector<double>& x) const;
    void descend(std::span<const int> places,
                 std::vector<double>& x,
                 const std::vector<double>& diagonal,
                 const std::vector<double>& cost,
                 double tolerance,
                 int most_steps);
    Bounds measure();
    void grow(double tolerance, int most_agents);
    void take_back();
    void leave_out(std::span<const int> coalition);
    void touch(int place);
    void add_to_core(int place);
    void add_unbalanced(double tolerance);
    void change_core(double tolerance, int most_steps);
    Bounds measure_present();
    [[nodiscard]] double unknown_variance(int agent) const;
    [[nodiscard]] double cost_of_place(int place) const;
    [[nodiscard]] Bounds rounded(
        double potential, double along, double left_over, double reach, double largest_cost) const;
    void show_present();
    void measure_through();

    const PairwiseNoise& noise_;
    const GroundCosts& costs_;
    std::vector<int> place_;  // of every agent; -1
    std::vector<int> near_, inside_;
    std::vector<bool> entered_, out_;
    std::vector<std::pair<std::size_t, std::size_t>> ranges_;
    std::vector<int> ends_;
    // The flow of `start`. Costs of agents outside hold for all coalitions.
    std::vector<double> x_, residual_, diagonal_, cost_;
    double along_ = 0, left_over_ = 0, reach_ = 0;  // x.r, sum of w r^2, sum of |R| |x|
    double largest_cost_ = 0, most_links_ = 0;
    std::vector<double> direction_, product_, solving_, step_;
    // Without the coalition: what differs.
    std::vector<int> left_out_, core_, touched_;
    std::vector<bool> in_core_, is_touched_;
    double multiple_ = 1;
    std::vector<double> change_, present_diagonal_, present_cost_, present_residual_;
    // The present flow in full, and what goes through every v (measure_through).
    std::vector<double> shown_x_, shown_residual_, shown_cost_;
    double shown_left_over_ = 0, shown_along_ = 0;
    std::vector<double> sent_, flow_change_, flow_square_, lost_;
};

/// An agent's largest precision over coalitions.
struct LocalPrecision {
    double upper = 0, lower = 0;
    std::vector<int> coalition;  ///< one that reaches `lower`, ascending
};

/// Bounds on the largest [(R^(I))^-1]_uu over all coalitions of `size` other agents: neighbours are
/// tried one by one, all others are bounded by what flows through them, and tried where that bound
/// is not low enough. Cost: a flow for every coalition of neighbours.
[[nodiscard]] LocalPrecision local_precision(const PairwiseNoise& noise,
                                             LocalFlow& flow,
                                             int agent,
                                             int size,
                                             const LocalFlow::Options& options);

}  // namespace sotto
