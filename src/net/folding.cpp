#include "folding.hpp"

#include <cmath>

namespace sotto {

void fold_into(Eigen::Ref<Eigen::VectorXd> total,
               const Eigen::Ref<const Eigen::VectorXd>& values,
               Fold fold) {
    if (fold == Fold::sum)
        total += values;
    else
        total = total.binaryExpr(values,
                                 [](double a, double b) { return std::isnan(b) || b > a ? b : a; });
}

void add_words(std::span<const std::uint64_t> words, std::span<std::uint64_t> sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += words[i];
}

}  // namespace sotto
