#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <optional>
#include <vector>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"

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

    [[nodiscard]] Eigen::VectorXd play(long input_round, int input_agent, int stream) const {
        std::vector<double> seen;
        const Eigen::MatrixXd added = coefficients(plan(input_round), stream);
        Eigen::VectorXd models = Eigen::VectorXd::Zero(n_);
        std::vector<Eigen::VectorXd> before;  // models before every training round
        long round = 0;
        for (const Phase& phase : process_.phases) {
            const auto gone = [&](int u) {
                return std::binary_search(phase.departed.begin(), phase.departed.end(), u);
            };
            for (long again = 0; again < phase.repeated; ++again) {
                models = before.back();
                before.pop_back();
            }
            for (long within = 0; within < phase.rounds; ++within, ++round) {
                before.push_back(models);
                for (int k = 0; k < process_.gossip_steps; ++k) {
                    const double step = process_.step_sizes.empty()
                                            ? 1.0
                                            : process_.step_sizes[static_cast<std::size_t>(round)];
                    Eigen::MatrixXd messages(n_, n_);  // sender, receiver
                    for (int u = 0; u < n_; ++u)
                        for (int r = 0; r < n_; ++r) {
                            messages(u, r) = models(u);
                            if (k > 0 || gone(u)) continue;
                            if (u == input_agent && round == input_round) messages(u, r) -= step;
                            if (stream >= 0 && round >= input_round)
                                messages(u, r) -=
                                    added(u, r) * inverse_(round, input_round) *
                                    (process_.plan->entry == NoiseEntry::gradient ? step : 1.0);
                        }
                    const MixingMatrix& mixing = phase.mixing.at(within);
                    if (process_.plan->aggregation == Aggregation::trusted_mean) {
                        models.setConstant(messages.col(0).mean());
                        seen.push_back(models(0));
                        continue;
                    }
                    observe(messages, mixing, gone, seen);
                    for (int u = 0; u < n_; ++u) {
                        models(u) = 0;
                        for (int v = 0; v < n_; ++v)
                            models(u) += mixing.weight(u, v) * messages(v, u);
                    }
                }
            }
        }
        return Eigen::Map<Eigen::VectorXd>(seen.data(), static_cast<Eigen::Index>(seen.size()));
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
            for (const int v : process_.graph->neighbours(r))
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
