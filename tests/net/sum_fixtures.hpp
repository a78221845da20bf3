#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "net/network.hpp"
#include "net/network_fixtures.hpp"
#include "sums/secure_sum.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto::test {

/// Secure sums of some agents, messages of test::message, through any network.
class SumRun {
  public:
    SumRun(const Graph& graph, std::span<const int> agents, Eigen::Index dimension)
        : graph_(graph), agents_(agents.begin(), agents.end()), dimension_(dimension) {
        secrets_ = pair_secrets(graph.agents());
        for (const int u : agents_) {
            sums_.emplace_back(graph_, secrets_[static_cast<std::size_t>(u)], 0, 16);
            messages_.push_back(message(u, -1, 0, dimension));
        }
    }
    static double weight(int receiver, int sender) {
        return 0.05 * (1 + (3 * receiver + 5 * sender) % 7);
    }
    void set(Eigen::Index coordinate, double value) {
        for (auto& vector : messages_) vector[coordinate] = value;
    }
    /// What each agent mixes, dimension x agents. COLLECTIVE.
    [[nodiscard]] Eigen::MatrixXd exchange(Network& network, int round) {
        const auto count = static_cast<Eigen::Index>(agents_.size());
        Eigen::MatrixXd mixed(dimension_, count);
        std::vector<Eigen::Index> next(agents_.size(), 0);
        for (std::size_t a = 0; a < agents_.size(); ++a) {
            std::vector<double> weights;
            for (const int to : graph_.neighbours(agents_[a]))
                weights.push_back(weight(to, agents_[a]));
            sums_[a].begin(round, 0, view(messages_[a]), weights);
        }
        std::vector<int> delivered(agents_.size(), 0);
        network.exchange_sum(
            {round, 0},
            dimension_,
            [&](std::size_t local, std::size_t j, Eigen::Index first, std::span<std::uint64_t> w) {
                sums_[local].share(j, first, w);
            },
            [&](std::size_t local, Eigen::Index first, std::span<const std::uint64_t> sum) {
                ++delivered[local];
                if (first != next[local]) return;
                next[local] += static_cast<Eigen::Index>(sum.size());
                SecureSum::finish(
                    sum,
                    weight(agents_[local], agents_[local]),
                    view(messages_[local]).subspan(static_cast<std::size_t>(first), sum.size()),
                    {mixed.col(static_cast<Eigen::Index>(local)).data() + first, sum.size()});
            });
        for (std::size_t a = 0; a < agents_.size(); ++a) {
            deliveries_ += delivered[a];
            if (next[a] != dimension_) problem_ = "coordinates are missing or out of order";
            // The plain mixture: half a step a neighbour, and doubles.
            Eigen::VectorXd wanted = weight(agents_[a], agents_[a]) * messages_[a];
            Eigen::VectorXd size = wanted.cwiseAbs();
            for (const int v : graph_.heard(agents_[a])) {
                const Eigen::VectorXd term = weight(agents_[a], v) * message(v, -1, 0, dimension_);
                wanted += term;
                size += term.cwiseAbs();
            }
            const double terms = graph_.degree(agents_[a]) + 1.0;
            const Eigen::VectorXd error =
                (mixed.col(static_cast<Eigen::Index>(a)) - wanted).cwiseAbs() -
                2 * terms * 0x1p-53 * size;
            if (!(error.maxCoeff() <= terms * 0x1p-41))
                problem_ = "agent " + std::to_string(agents_[a]) + " is off by " +
                           std::to_string(error.maxCoeff() * 0x1p40) + " steps";
        }
        return mixed;
    }
    [[nodiscard]] int deliveries() const { return deliveries_; }
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    static std::span<const double> view(const Eigen::VectorXd& vector) {
        return {vector.data(), static_cast<std::size_t>(vector.size())};
    }
    Graph graph_;
    std::vector<int> agents_;
    Eigen::Index dimension_;
    std::vector<PairSecrets> secrets_;
    std::vector<SecureSum> sums_;
    std::vector<Eigen::VectorXd> messages_;
    int deliveries_ = 0;
    std::string problem_;
};

}  // namespace sotto::test
