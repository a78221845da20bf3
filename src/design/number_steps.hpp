#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sotto {

/// Steps s <- s e^p of numbers in a row towards where all e are 1: the square root, p = 1/2, where
/// a number turns, and longer by 1.3 each time that it goes on in one direction.
class NumberSteps {
  public:
    /// @param earned  e, >= 0.   @param haste 0 (always the root) to 1 (p up to 8); with haste a
    /// number grows or shrinks to at most four times or a quarter at once, without to twice or
    /// half.
    void take(const Eigen::VectorXd& earned, double haste, Eigen::VectorXd& numbers);

  private:
    Eigen::VectorXd power_;
    std::vector<bool> rose_;
};

}  // namespace sotto
