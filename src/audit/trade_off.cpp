#include "audit/trade_off.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

TradeOff::TradeOff(const PrivacyLoss& loss, double delta) {
    constexpr int points = 24;
    const double largest = loss.epsilon(delta).upper;
    for (int i = 0; i < points; ++i) {
        const double epsilon = largest * i / (points - 1);
        points_.push_back({epsilon, std::min(1.0, loss.delta(epsilon).upper)});
    }
}

double TradeOff::true_positive_rate(double false_positive_rate) const {
    double rate = 1;
    for (const Point& point : points_) {
        const double factor = std::exp(point.epsilon);
        rate = std::min({rate,
                         factor * false_positive_rate + point.delta,
                         1 - (1 - false_positive_rate - point.delta) / factor});
    }
    return rate;
}

}  // namespace sotto
