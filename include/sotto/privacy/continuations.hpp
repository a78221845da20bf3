#pragma once

#include <algorithm>
#include <vector>

namespace sotto {

// A stretch of rounds under one set of noise keys is known by the ids of the starts that sent in
// it, in order: the first one drew the keys, each later one went on with them after a clean stop.
// Ids are random, so two directories that have the same ids have them from one run.

/// Whether `one` is `other`, or what came of it with the same keys.
template <class Session>
[[nodiscard]] bool goes_on(const std::vector<Session>& one, const std::vector<Session>& other) {
    return other.size() <= one.size() && std::equal(other.begin(), other.end(), one.begin());
}

/// Whether both went on from one start with its keys, each by itself: they drew the same noise for
/// messages that need not be the same, whose difference has none.
template <class Session>
[[nodiscard]] bool share_keys_apart(const std::vector<Session>& one,
                                    const std::vector<Session>& other) {
    return !one.empty() && !other.empty() && one.front() == other.front() && !goes_on(one, other) &&
           !goes_on(other, one);
}

}  // namespace sotto
