#pragma once

#include <Eigen/Dense>
#include <memory>
#include <optional>

#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// Quadratic of [W] eq. 11, d = 2, agent index i = agent+1 of n: i <= n/2: 15 (x1 + i)^2 + x2^2;
/// otherwise 15 u1^2 + u2^2 with u = Rotation(15 degrees) (x - (i, 0)). One "record", the function
/// itself; test_loss is the same function; no accuracy.
[[nodiscard]] std::unique_ptr<Objective> make_quadratic_objective(int agent, int agents);

/// Gossip averaging ([G]): a record is a point, its features, and the network estimates the mean of
/// all agents' means. A record's loss is 1/2 |value|^2 - model.value. With regularisation l2 = 1
/// the minimised loss is F(x) = 1/2 mean |x - value|^2, F(x) - F* = 1/2 |x - mean|^2. With steps 1
/// / (t + 1) models are running averages, x <- W (x + (y_t - x) / (t + 1)), y_t the mean of the
/// round's batch.
/// @param mean of all agents' means, if known: then there is one test record, with loss 1/2 |x -
/// mean|^2; otherwise none.
/// @throws DataError if the shard is empty or the mean has another length.
[[nodiscard]] std::unique_ptr<Objective> make_averaging_objective(
    Dataset shard, std::optional<Eigen::VectorXd> mean);

}  // namespace sotto
