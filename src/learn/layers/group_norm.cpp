#include "group_norm.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sotto/core/error.hpp"
#include "summed_rounding.hpp"

namespace sotto {
namespace {

constexpr double variance_floor = 1e-5;

class GroupNormLayer final : public Layer {
  public:
    GroupNormLayer(ImageShape shape, Eigen::Index groups) : shape_(shape), groups_(groups) {
        if (!(groups >= 1 && shape.size() >= 1 && shape.channels % groups == 0))
            throw ConfigError(fmt::format(
                "a group norm of {} groups over {} channels: the groups must be of equal size",
                groups,
                shape.channels));
        normal_.resize(shape.channels, shape.positions());
        slope_.resize(shape.channels, shape.positions());
    }
    Eigen::Index inputs() const override { return shape_.size(); }
    Eigen::Index outputs() const override { return shape_.size(); }
    Eigen::Index parameters() const override { return 2 * shape_.channels; }
    void initialise(SeededRandom&, Eigen::Ref<Eigen::VectorXd> parameters) const override {
        parameters.head(shape_.channels).setOnes();
        parameters.tail(shape_.channels).setZero();
    }

    void forward(const Parameters& parameters, const ConstColumns& in, Columns out) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            Eigen::Map<Eigen::MatrixXd> result(
                out.col(i).data(), shape_.channels, shape_.positions());
            result = (parameters.head(shape_.channels).asDiagonal() * normal_).colwise() +
                     parameters.tail(shape_.channels);
        }
    }

    void backward(const Parameters& parameters,
                  const ConstColumns& in,
                  const ConstColumns&,
                  const ConstColumns& d_out,
                  Columns d_in) override {
        const Eigen::Index size = shape_.channels / groups_;
        const auto count = static_cast<double>(size * shape_.positions());
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            slope_ = parameters.head(shape_.channels).asDiagonal() * record(d_out, i);
            Eigen::Map<Eigen::MatrixXd> result(
                d_in.col(i).data(), shape_.channels, shape_.positions());
            for (Eigen::Index g = 0; g < groups_; ++g) {
                const auto normal = normal_.middleRows(g * size, size);
                const auto slope = slope_.middleRows(g * size, size);
                const double mean = slope.sum() / count;
                const double along = slope.cwiseProduct(normal).sum() / count;
                result.middleRows(g * size, size) =
                    inverse_deviations_[g] *
                    (slope.array() - mean - along * normal.array()).matrix();
            }
        }
    }

    void add_squared_norms(const ConstColumns& in,
                           const ConstColumns& d_out,
                           Eigen::Ref<Eigen::VectorXd> squares) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            const auto slope = record(d_out, i);
            const Eigen::VectorXd scales = slope.cwiseProduct(normal_).rowwise().sum();
            const Eigen::ArrayXd slopes = slope.rowwise().squaredNorm();
            const Eigen::ArrayXd factors =
                normal_.rowwise().squaredNorm().array() + static_cast<double>(shape_.positions());
            squares[i] +=
                summed_norm_squared(scales.squaredNorm() + slope.rowwise().sum().squaredNorm(),
                                    (slopes * factors).sum());
        }
    }

    void add_gradient(const ConstColumns& in,
                      const ConstColumns& d_out,
                      Eigen::Ref<Eigen::VectorXd> gradient) override {
        for (Eigen::Index i = 0; i < in.cols(); ++i) {
            normalise(in, i);
            const auto slope = record(d_out, i);
            gradient.head(shape_.channels) += slope.cwiseProduct(normal_).rowwise().sum();
            gradient.tail(shape_.channels) += slope.rowwise().sum();
        }
    }
    SumRounding sum_rounding() const override { return summed_rounding(shape_.positions()); }

  private:
    [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> record(const ConstColumns& columns,
                                                           Eigen::Index i) const {
        return {columns.col(i).data(), shape_.channels, shape_.positions()};
    }
    /// normal_ = (record - mean) / deviation, group by group.
    void normalise(const ConstColumns& in, Eigen::Index i) {
        const auto values = record(in, i);
        const Eigen::Index size = shape_.channels / groups_;
        const auto count = static_cast<double>(size * shape_.positions());
        // Means over positions first: the rows of a group are a strided block.
        means_ = values.rowwise().sum();
        inverse_deviations_.resize(groups_);
        for (Eigen::Index g = 0; g < groups_; ++g)
            means_.segment(g * size, size)
                .setConstant(means_.segment(g * size, size).sum() / count);
        normal_ = values.colwise() - means_;
        squares_ = normal_.rowwise().squaredNorm();
        for (Eigen::Index g = 0; g < groups_; ++g) {
            inverse_deviations_[g] =
                1 / std::sqrt(squares_.segment(g * size, size).sum() / count + variance_floor);
            squares_.segment(g * size, size).setConstant(inverse_deviations_[g]);
        }
        normal_ = squares_.asDiagonal() * normal_;
    }

    ImageShape shape_;
    Eigen::Index groups_;
    Eigen::MatrixXd normal_, slope_;  // of one record, channels x positions
    Eigen::VectorXd means_, squares_, inverse_deviations_;
};

}  // namespace

std::unique_ptr<Layer> make_group_norm_layer(ImageShape shape, Eigen::Index groups) {
    return std::make_unique<GroupNormLayer>(shape, groups);
}

}  // namespace sotto
