#include "max_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixed_layer.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

class MaxPoolLayer final : public FixedLayer {
  public:
    explicit MaxPoolLayer(ImageShape in) : in_(in), out_{in.rows / 2, in.columns / 2, in.channels} {
        if (!(out_.size() >= 1))
            throw ConfigError(fmt::format(
                "a pool over 2 x 2 of an image of {} x {}: it must have two rows and columns",
                in.rows,
                in.columns));
    }
    Eigen::Index inputs() const override { return in_.size(); }
    Eigen::Index outputs() const override { return out_.size(); }

    void forward(const Parameters&, const ConstColumns& in, Columns out) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* image = in.col(i).data();
            double* result = out.col(i).data();
            for_each_window([&](Eigen::Index target, Eigen::Index a, Eigen::Index below) {
                const Eigen::Index b = a + in_.channels;
                for (Eigen::Index c = 0; c < in_.channels; ++c)
                    result[target + c] =
                        std::max(std::max(image[a + c], image[b + c]),
                                 std::max(image[below + a + c], image[below + b + c]));
            });
        }
    }
    void backward(const Parameters&,
                  const ConstColumns& in,
                  const ConstColumns& out,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        d_in.setZero();
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            const double* image = in.col(i).data();
            const double* largest = out.col(i).data();
            const double* slope = d_out.col(i).data();
            double* __restrict result = d_in.col(i).data();
            for_each_window([&](Eigen::Index target, Eigen::Index a, Eigen::Index below) {
                const Eigen::Index b = a + in_.channels;
                // The first of equal ones gets the slope: what is left of it is the slope or zero.
                // The four places are never the same.
#pragma GCC ivdep
                for (Eigen::Index c = 0; c < in_.channels; ++c) {
                    const double value = largest[target + c], whole = slope[target + c];
                    const double first = image[a + c] == value ? whole : 0.0;
                    const double after_first = whole - first;
                    const double second = image[b + c] == value ? after_first : 0.0;
                    const double after_second = after_first - second;
                    const double third = image[below + a + c] == value ? after_second : 0.0;
                    result[a + c] = first;
                    result[b + c] = second;
                    result[below + a + c] = third;
                    result[below + b + c] = after_second - third;
                }
            });
        }
    }

  private:
    /// f(first value of the output position, of the upper left input position, from an input row to
    /// the next).
    template <class Function>
    void for_each_window(Function&& f) const {
        const Eigen::Index row = in_.columns * in_.channels;
        for (Eigen::Index y = 0; y < out_.rows; ++y)
            for (Eigen::Index x = 0; x < out_.columns; ++x)
                f((y * out_.columns + x) * out_.channels, 2 * y * row + 2 * x * in_.channels, row);
    }

    ImageShape in_, out_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(ImageShape in) {
    return std::make_unique<MaxPoolLayer>(in);
}

}  // namespace sotto
