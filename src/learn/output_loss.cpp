#include "output_loss.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"

namespace sotto {

Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data) {
    if (label == -1) return 0;
    if (!(label >= 0 && label < static_cast<double>(classes) && label == std::floor(label)))
        throw DataError(fmt::format(
            "{}: label {} is no class (allowed: whole numbers from 0 to {}, and -1 for 0)",
            data.source,
            label,
            classes - 1));
    return static_cast<Eigen::Index>(label);
}

double output_loss(const Eigen::Ref<const Eigen::VectorXd>& out,
                   const Dataset& data,
                   Eigen::Index row) {
    if (data.target == Target::value) {
        const double error = out[0] - data.labels[row];
        return error * error;
    }
    const double largest = out.maxCoeff();
    return largest - out[class_of(data.labels[row], out.size(), data)] +
           std::log((out.array() - largest).exp().sum());
}

void turn_into_slopes(Eigen::Ref<Eigen::VectorXd> out, const Dataset& data, Eigen::Index row) {
    if (data.target == Target::value) {
        out[0] = 2 * (out[0] - data.labels[row]);
        return;
    }
    out = (out.array() - out.maxCoeff()).exp();
    out /= out.sum();
    out[class_of(data.labels[row], out.size(), data)] -= 1;
}

bool is_hit(const Eigen::Ref<const Eigen::VectorXd>& out, const Dataset& data, Eigen::Index row) {
    Eigen::Index best = 0;
    out.maxCoeff(&best);
    return best == class_of(data.labels[row], out.size(), data);
}

}  // namespace sotto
