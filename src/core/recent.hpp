#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "sotto/core/hash.hpp"

namespace sotto {

/// The last solutions of this process, by the digest of what was solved: trainings of a sweep ask
/// for the same ones again and again. Those not asked for the longest are forgotten. From any
/// thread.
template <class Solution>
class Recent {
  public:
    /// @param most_bytes of all that is kept.
    explicit Recent(std::size_t most_bytes = std::size_t{256} << 20) : most_bytes_(most_bytes) {}

    /// The solution of the problem: kept, or solved now, which other threads do not wait for.
    /// @param bytes_of a solution; one that takes more than there may be is not kept.
    template <class Solve, class BytesOf>
    [[nodiscard]] Solution get(const Digest& problem, const Solve& solve, const BytesOf& bytes_of) {
        if (auto known = find(problem)) return *std::move(known);
        Solution solution = solve();
        keep(problem, solution, bytes_of(solution));
        return solution;
    }

  private:
    std::optional<Solution> find(const Digest& problem) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(entries_, problem, &Entry::problem);
        if (found == entries_.end()) return std::nullopt;
        std::rotate(entries_.begin(), found, found + 1);
        return entries_.front().solution;
    }
    void keep(const Digest& problem, const Solution& solution, std::size_t bytes) {
        if (bytes > most_bytes_) return;
        const std::scoped_lock lock(mutex_);
        entries_.push_front({problem, solution, bytes});
        bytes_ += bytes;
        for (; bytes_ > most_bytes_; entries_.pop_back()) bytes_ -= entries_.back().bytes;
    }

    struct Entry {
        Digest problem;
        Solution solution;
        std::size_t bytes;
    };
    const std::size_t most_bytes_;
    std::mutex mutex_;
    std::deque<Entry> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace sotto
