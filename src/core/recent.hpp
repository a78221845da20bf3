#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "sotto/core/hash.hpp"

namespace sotto {

/// Cache of this process's latest solutions, by digest of the problem, for the trainings of a
/// sweep. The least recently used are dropped. Thread-safe.
template <class Solution>
class Recent {
  public:
    /// @param most_bytes in total.
    explicit Recent(std::size_t most_bytes = std::size_t{256} << 20) : most_bytes_(most_bytes) {}

    /// The cached solution of the problem, or a new one; other threads do not wait while it is
    /// solved.
    /// @param bytes_of gives the size of a solution; solutions above most_bytes are not cached.
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
