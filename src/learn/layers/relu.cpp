#include "sotto/learn/layers.hpp"

namespace sotto {
namespace {

class ReluLayer final : public Layer {
  public:
    explicit ReluLayer(Eigen::Index size) : size_(size) {}
    Eigen::Index inputs() const override { return size_; }
    Eigen::Index outputs() const override { return size_; }
    Eigen::Index parameters() const override { return 0; }
    void initialise(SeededRandom&, Eigen::Ref<Eigen::VectorXd>) const override {}

    void forward(const Parameters&, const ConstColumns& in, Columns out) override {
        out = in.cwiseMax(0.0);
    }
    void backward(const Parameters&,
                  const ConstColumns& in,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        d_in = (in.array() > 0).select(d_out, 0.0);
    }
    void add_squared_norms(const ConstColumns&,
                           const ConstColumns&,
                           Eigen::Ref<Eigen::VectorXd>) override {}
    void add_gradient(const ConstColumns&,
                      const ConstColumns&,
                      Eigen::Ref<Eigen::VectorXd>) override {}

  private:
    Eigen::Index size_;
};

}  // namespace

std::unique_ptr<Layer> make_relu_layer(Eigen::Index size) {
    return std::make_unique<ReluLayer>(size);
}

}  // namespace sotto
