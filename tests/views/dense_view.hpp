#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <optional>
#include <vector>

#include "sotto/views/view_record.hpp"

namespace sotto::test {

/// What a view observes of a run, played by the definition: no linear algebra, no shortcut.
class PlayedRun {
  public:
    PlayedRun(const MessageProcess& process, const View& view);

    /// Observed values for one unit of agent's contribution in one round.
    [[nodiscard]] Eigen::VectorXd input(long round, int agent) const {
        return play(round, agent, -1);
    }
    /// Observed values for one unit of a stream drawn in one round.
    [[nodiscard]] Eigen::VectorXd noise(long round, int stream) const {
        return play(round, -1, stream);
    }
    [[nodiscard]] bool is_member(int agent) const {
        return std::binary_search(view_.members.begin(), view_.members.end(), agent);
    }
    /// The plan whose noise a round has.
    [[nodiscard]] const NoisePlan& plan(long round) const {
        return *plans_[static_cast<std::size_t>(round)];
    }
    [[nodiscard]] bool knows(long of_round, int stream) const {
        const NoisePlan& plan = this->plan(of_round);
        const auto& holders = plan.groups[static_cast<std::size_t>(
                                              plan.streams[static_cast<std::size_t>(stream)].group)]
                                  .members;
        return std::any_of(holders.begin(), holders.end(), [&](int h) { return is_member(h); });
    }

  private:
    [[nodiscard]] static double entry(const TemporalFactor& factor, long t, long s) {
        if (factor.kind == TemporalFactor::Kind::dense) return factor.lower(t, s);
        return t - s < factor.lower.cols() ? factor.lower(t, t - s) : 0.0;
    }

    /// What every sender (row) adds of one stream for every receiver (column).
    [[nodiscard]] Eigen::MatrixXd coefficients(const NoisePlan& plan, int stream) const {
        Eigen::MatrixXd added = Eigen::MatrixXd::Zero(n_, n_);
        for (const auto& row : plan.rows)
            for (std::size_t j = 0; j < row.streams.size(); ++j) {
                if (row.streams[j] != stream) continue;
                const double value = plan.scale * row.coefficients[j];
                if (row.receiver == NoiseRow::all_receivers)
                    added.row(row.sender).setConstant(value);
                else
                    added(row.sender, row.receiver) = value;
            }
        return added;
    }

    /// Of all agents.
    struct Agents {
        Eigen::VectorXd models;
        Eigen::MatrixXd directions;  ///< u(t) (sender, receiver)
    };
    /// One unit of a contribution or of a stream.
    struct Entering {
        long round;
        int agent, stream;
        Eigen::MatrixXd added;
    };

    [[nodiscard]] Eigen::VectorXd play(long input_round, int input_agent, int stream) const {
        const Entering entering{
            input_round, input_agent, stream, coefficients(plan(input_round), stream)};
        std::vector<double> seen;
        Agents now{Eigen::VectorXd::Zero(n_), Eigen::MatrixXd::Zero(n_, n_)};
        std::vector<Agents> before;  // every training round
        long round = 0;
        for (const Phase& phase : process_.phases) {
            for (long again = 0; again < phase.repeated; ++again) {
                now = before.back();
                before.pop_back();
            }
            for (long within = 0; within < phase.rounds; ++within, ++round) {
                before.push_back(now);
                const Eigen::MatrixXd first = first_messages(phase, round, entering, now);
                exchange(phase,
                         phase.mixing.at(within),
                         phase.gossip ? *phase.gossip : process_.gossip,
                         first,
                         now.models,
                         seen);
            }
        }
        const Phase& last = process_.phases.back();
        exchange(last,
                 last.mixing.at(last.rounds - 1),
                 process_.final_gossip,
                 now.models.replicate(1, n_),
                 now.models,
                 seen);
        return Eigen::Map<Eigen::VectorXd>(seen.data(), static_cast<Eigen::Index>(seen.size()));
    }

    static bool is_gone(const Phase& phase, int agent) {
        return std::binary_search(phase.departed.begin(), phase.departed.end(), agent);
    }

    /// m_0 (sender, receiver); moves directions on.
    [[nodiscard]] Eigen::MatrixXd first_messages(const Phase& phase,
                                                 long round,
                                                 const Entering& entering,
                                                 Agents& now) const {
        const double step = process_.step_sizes.empty()
                                ? 1.0
                                : process_.step_sizes[static_cast<std::size_t>(round)];
        const bool on_gradients = process_.plan->entry == NoiseEntry::gradient;
        Eigen::MatrixXd messages = now.models.replicate(1, n_);
        for (int u = 0; u < n_; ++u) {
            if (is_gone(phase, u)) continue;
            for (int r = 0; r < n_; ++r) {
                double& direction = now.directions(u, r);
                direction *= process_.momentum;
                if (u == entering.agent && round == entering.round) direction += 1;
                const double noise = entering.stream >= 0 && round >= entering.round
                                         ? entering.added(u, r) * inverse_(round, entering.round)
                                         : 0.0;
                if (on_gradients) direction += noise;
                messages(u, r) -= step * direction + (on_gradients ? 0.0 : noise);
            }
        }
        return messages;
    }

    /// The exchanges of a round, which make models of its first messages.
    void exchange(const Phase& phase,
                  const MixingMatrix& mixing,
                  const GossipPolynomial& gossip,
                  Eigen::MatrixXd messages,
                  Eigen::VectorXd& models,
                  std::vector<double>& seen) const {
        const auto gone = [&](int u) { return is_gone(phase, u); };
        Eigen::VectorXd previous = Eigen::VectorXd::Zero(n_);  // own messages
        for (int k = 0; k < gossip.steps(); ++k) {
            if (process_.plan->aggregation == Aggregation::trusted_mean) {
                models.setConstant(messages.col(0).mean());
                seen.push_back(models(0));
            } else {
                observe(messages, mixing, gone, seen);
                for (int u = 0; u < n_; ++u) {
                    double mixed = 0;
                    for (int v = 0; v < n_; ++v) mixed += mixing.weight(u, v) * messages(v, u);
                    models(u) = gossip.here(k) * mixed - gossip.before(k) * previous(u);
                }
            }
            previous = messages.diagonal();
            messages = models.replicate(1, n_);
        }
    }

    template <class Gone>
    void observe(const Eigen::MatrixXd& messages,
                 const MixingMatrix& mixing,
                 Gone&& gone,
                 std::vector<double>& seen) const {
        for (int r = 0; r < n_; ++r) {
            if (gone(r)) continue;
            const bool member = is_member(r);
            if (view_.kind == View::Kind::secure_sum) {
                if (!member) continue;
                double sum = 0;
                for (int v = 0; v < n_; ++v) sum += mixing.weight(r, v) * messages(v, r);
                seen.push_back(sum);
                continue;
            }
            if (!member && view_.kind != View::Kind::all_messages) continue;
            for (const int v : process_.graph->heard(r))
                if (!gone(v)) seen.push_back(messages(v, r));
        }
    }

    const MessageProcess& process_;
    const View& view_;
    int n_;
    std::vector<const NoisePlan*> plans_;  // of every round
    Eigen::MatrixXd inverse_;              // C_time^-1, a block for noise drawn without a break
};

/// a_s^T (B B^T)^+ a_t of every agent, from matrices with a row for every observed value; nothing
/// where a column of A is outside the range of B.
[[nodiscard]] std::vector<std::optional<Eigen::MatrixXd>> dense_grams(const MessageProcess& process,
                                                                      const View& view);

}  // namespace sotto::test
