#pragma once

// How the values of several agents become one; not installed.

#include <Eigen/Dense>
#include <cstdint>
#include <span>

#include "sotto/net/network.hpp"

namespace sotto {

/// total[i] = total[i] + values[i], or the larger of the two.
void fold_into(Eigen::Ref<Eigen::VectorXd> total,
               const Eigen::Ref<const Eigen::VectorXd>& values,
               Fold fold);

/// sum[i] += words[i], modulo 2^64.
void add_words(std::span<const std::uint64_t> words, std::span<std::uint64_t> sum);

}  // namespace sotto
