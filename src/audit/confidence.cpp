#include "audit/confidence.hpp"

#include <fmt/format.h>

#include <boost/math/distributions/normal.hpp>

#include "sotto/core/error.hpp"

namespace sotto {

double two_sided_z(double level) {
    if (!(level > 0 && level < 1))
        throw ConfigError(fmt::format("confidence: {} is not allowed (between 0 and 1)", level));
    return boost::math::quantile(boost::math::complement(boost::math::normal(), (1 - level) / 2));
}

}  // namespace sotto
