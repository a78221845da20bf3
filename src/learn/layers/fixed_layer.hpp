#pragma once

#include "sotto/learn/layers/layer.hpp"

namespace sotto {

/// A layer without parameters: nothing starts, and no gradient by parameters has a norm or a sum.
class FixedLayer : public Layer {
  public:
    Eigen::Index parameters() const final { return 0; }
    void initialise(SeededRandom&, Eigen::Ref<Eigen::VectorXd>) const final {}
    void add_squared_norms(const ConstColumns&,
                           const ConstColumns&,
                           Eigen::Ref<Eigen::VectorXd>) final {}
    void add_gradient(const ConstColumns&, const ConstColumns&, Eigen::Ref<Eigen::VectorXd>) final {
    }
};

}  // namespace sotto
