#include "graph/topography.hpp"

#include <utility>

namespace sotto {

MixingSchedule Topography::schedule() const {
    std::vector<MixingMatrix> all{mixing};
    all.insert(all.end(), later_mixing.begin(), later_mixing.end());
    return MixingSchedule(std::move(all));
}

Digest Topography::mixing_hash() const {
    return later_mixing.empty() ? mixing.hash() : schedule().hash();
}

}  // namespace sotto
