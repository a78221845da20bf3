#include "sotto/design/temporal_shape.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

TemporalShape parse_temporal(std::string_view option,
                             std::string_view text,
                             std::string_view also) {
    constexpr std::string_view banded = "banded:";
    TemporalShape shape;
    if (text == "dense") return shape;
    if (text == "one-lag") {
        shape.kind = TemporalShape::Kind::one_lag;
        return shape;
    }
    if (text.starts_with(banded)) {
        shape.kind = TemporalShape::Kind::banded;
        const long long band = parse_integer(option, text.substr(banded.size()));
        require_in_range(option, static_cast<double>(band), 0, 1e6);
        shape.band = static_cast<long>(band);
        return shape;
    }
    std::vector<std::string> allowed{"dense", "banded:B", "one-lag"};
    if (!also.empty()) allowed.emplace_back(also);
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const TemporalShape& shape) {
    std::string name = "dense";
    if (shape.kind == TemporalShape::Kind::banded) name = fmt::format("banded:{}", shape.band);
    if (shape.kind == TemporalShape::Kind::one_lag) name = "one-lag";
    return shape.restart > 0 ? fmt::format("{}, begun anew every {} rounds", name, shape.restart)
                             : name;
}

std::string temporal_text(TemporalShape shape) {
    shape.restart = 0;
    return name_of(shape);
}

}  // namespace sotto
