#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/agent/recording/recorded_wire.hpp"
#include "sotto/noise/noise_source.hpp"
#include "sotto/trust/secret.hpp"
#include "sotto/views/view_innovations.hpp"

namespace sotto {

/// Everything the members of a view have recorded, put together: their views and seeds, and, where
/// the view sees all messages, what was on the wire. Read step by step.
class RecordedMessages {
  public:
    /// @param folder `views` of a run directory.  @param process graph, plan and rounds of the run.
    /// @throws DataError naming the file that is missing, cut short or of another run; ConfigError
    /// if the run does not show what the view sees (messages where agents learnt sums only).
    RecordedMessages(const std::filesystem::path& folder,
                     const View& view,
                     const MessageProcess& process,
                     int threads);

    [[nodiscard]] Eigen::Index dimension() const { return dimension_; }
    /// The plan with every member in the groups whose seeds it turned out to hold.
    [[nodiscard]] const NoisePlan& knowledge() const { return knowledge_; }
    /// (member, seed group) of seeds that the plan does not entitle their holder to.
    [[nodiscard]] const std::vector<std::pair<int, int>>& leaked_seeds() const { return leaked_; }

    /// Loads the next gossip step; false after the last.
    [[nodiscard]] bool next();
    /// What was seen in it; valid until the next one.
    [[nodiscard]] SeenStep step() const;

  private:
    struct Member {
        RecordedViewReader reader;
        RecordedRound record;
    };
    struct Sender {
        WireReader reader;
        WireRecord record;
    };
    void open_member(const std::filesystem::path& folder, int agent);
    void open_sender(const std::filesystem::path& folder, int agent);
    void check(const RecordingHeader& header,
               std::uint64_t records,
               int agent,
               const std::string& file);
    /// Prepares the part of the others' noise that follows from the members' seeds.
    void set_known_noise(int threads);
    [[nodiscard]] Eigen::VectorXd message(int sender, int receiver) const;

    const MessageProcess& process_;
    View view_;
    NoisePlan knowledge_;
    std::vector<std::pair<int, int>> leaked_;
    std::map<int, Member> members_;
    std::map<int, Sender> senders_;
    std::map<int, SecretKey> seeds_;  // by group
    std::optional<NoiseSource> known_source_;
    std::map<std::pair<int, int>, Eigen::Index> known_columns_;  // (sender, receiver)
    Eigen::MatrixXd known_noise_;
    Eigen::Index dimension_ = -1;
    std::optional<std::uint32_t> epoch_;
    long time_ = -1;
};

}  // namespace sotto
