#include "relu.hpp"

#include "fixed_layer.hpp"

namespace sotto {
namespace {

class ReluLayer final : public FixedLayer {
  public:
    explicit ReluLayer(Eigen::Index size) : size_(size) {}
    Eigen::Index inputs() const override { return size_; }
    Eigen::Index outputs() const override { return size_; }

    void forward(const Parameters&, const ConstColumns& in, Columns out) override {
        out = in.cwiseMax(0.0);
    }
    void backward(const Parameters&,
                  const ConstColumns& in,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* value = in.col(i).data();
            const double* slope = d_out.col(i).data();
            double* __restrict result = d_in.col(i).data();
            for (Eigen::Index k = 0; k < size_; ++k) {
                const double passed = slope[k];
                result[k] = value[k] > 0 ? passed : 0.0;
            }
        }
    }

  private:
    Eigen::Index size_;
};

}  // namespace

std::unique_ptr<Layer> make_relu_layer(Eigen::Index size) {
    return std::make_unique<ReluLayer>(size);
}

}  // namespace sotto
