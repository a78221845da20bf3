#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "run/account_subject.hpp"
#include "sotto/views/view_query.hpp"

namespace sotto {

/// The published bound for gossip with independent noise ([U] 7.1), for every target of one
/// observer: a column to compare with. It applies to views of single nodes, one gossip step, fixed
/// mixing, equal steps and independent private noise of one variance.
class MuffliatoColumn {
  public:
    /// @param subject outlives the object.
    MuffliatoColumn(const PlanConfig& plan, const AccountSubject& subject, const ViewQuery& query);

    /// Squared sensitivities of all agents in the view of this one; empty where it does not apply.
    [[nodiscard]] Eigen::VectorXd of(const std::vector<int>& members) const;

  private:
    const AccountSubject& subject_;
    long rounds_;
    std::optional<double> variance_;  // of every agent's noise
};

}  // namespace sotto
