#pragma once

#include <vector>

#include "config/config.hpp"
#include "training/member_requests.hpp"

namespace sotto {

/// Who of a network's agents takes part in a run, and which of them wait (--spares).
class Attendance {
  public:
    /// COLLECTIVE: where a run is taken up, process 0 knows who has joined.
    /// @throws ConfigError for spares that cannot be, DataError for a run that cannot be read;
    /// NetworkError for an agent that is to wait by rank 0's word alone, or a word that is none.
    Attendance(Network& network, const TrainConfig& config);

    /// Numbers, ascending.
    [[nodiscard]] const std::vector<int>& waiting() const { return waiting_; }
    /// Places of the spares among all.
    [[nodiscard]] std::vector<int> waiting_places() const { return everybody().places(waiting_); }
    /// Places of those that leave among all. @param members who took part.
    [[nodiscard]] std::vector<int> places_of(const std::vector<int>& leaving,
                                             const Membership& members) const {
        return waiting_.empty() ? members.places(leaving) : everybody().places(leaving);
    }
    void change(const MemberChange& change);

  private:
    /// On process 0. Where the spares were not started nobody waits.
    void find(const Network& network, const TrainConfig& config);
    void require_possible(const Network& network, const TrainConfig& config) const;
    void require_own_word(const Network& network, const TrainConfig& config) const;
    /// Members and spares, by place in the network.
    [[nodiscard]] Membership everybody() const;

    std::vector<int> waiting_, members_;  // numbers; both empty where nobody waits
};

}  // namespace sotto
