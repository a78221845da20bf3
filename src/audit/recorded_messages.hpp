#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "noise/noise_source.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view_record.hpp"
#include "trust/secret.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

/// All recordings of the members of a view together: their views and seeds, and, if the view sees
/// all messages, those sent. Read step by step.
class RecordedMessages {
  public:
    /// @param folder `views` of a run directory.  @param process graph, plan and rounds of the run.
    /// @param content steps: members' seeds, and what others' messages changed, by round.
    /// @throws DataError naming the file that is missing, truncated or of another run; ConfigError
    /// if the run does not show what the view sees (messages where agents learnt sums only).
    RecordedMessages(const std::filesystem::path& folder,
                     const View& view,
                     const MessageProcess& process,
                     int threads,
                     WireContent content = WireContent::messages);

    [[nodiscard]] Eigen::Index dimension() const { return dimension_; }
    /// The plan with every member in the groups whose seeds it holds.
    [[nodiscard]] const NoisePlan& knowledge() const { return knowledge_; }
    /// One per seed that a member holds and the plan does not give it.
    [[nodiscard]] std::vector<std::string> leak_findings() const;

    /// Reads the next gossip step; false after the last.
    [[nodiscard]] bool next();
    /// Its content; valid until the next one.
    [[nodiscard]] SeenStep step() const;
    /// What an agent that is no member sent, as recorded. Precondition: the view sees all messages.
    [[nodiscard]] const WireRecord& sent(int sender) const { return senders_.at(sender).record; }
    /// The noise that members cannot compute, agents x streams, times the plan's scale.
    [[nodiscard]] Eigen::MatrixXd unknown_noise() const;

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
    void take_seeds(const std::filesystem::path& file, int agent);
    /// Records of a round.
    [[nodiscard]] int exchanges() const {
        return content_ == WireContent::steps ? 1 : process_.exchanges();
    }
    void open_sender(const std::filesystem::path& folder, int agent);
    void check(const RecordingHeader& header,
               std::uint64_t records,
               int agent,
               const std::string& file);
    /// Prepares the part of others' noise that members can compute from their seeds.
    void set_known_noise(int threads);
    [[nodiscard]] Eigen::VectorXd message(int sender, int receiver) const;

    const MessageProcess& process_;
    View view_;
    WireContent content_;
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

/// What an attacker knows beside recordings.
struct KnownInputs {
    Eigen::VectorXd initial{};  ///< the first model of every agent, d; empty: zeros
    /// The part of an agent's contribution in a round that is known, d; none: nothing is known.
    std::function<Eigen::VectorXd(int agent, long round)> contribution{};
};

/// Recordings of a run as the accountant's filter sees them (ViewInnovations), by gossip step. The
/// filter knows the noise of every seed that members hold.
class RecordedInnovations {
  public:
    /// @param views folder `views` of the run directory.  @param process the run according to its
    /// plan; must outlive the object.  @param dimension required of the recorded models.  @param
    /// reason of that dimension, for the message: "rows have 8".
    /// @throws DataError for another dimension; as RecordedMessages and ViewInnovations.
    RecordedInnovations(const std::filesystem::path& views,
                        const View& view,
                        const MessageProcess& process,
                        Eigen::Index dimension,
                        const std::string& reason,
                        int threads,
                        KnownInputs known = {});
    RecordedInnovations(const RecordedInnovations&) = delete;
    RecordedInnovations& operator=(const RecordedInnovations&) = delete;

    [[nodiscard]] const ViewInnovations& test() const { return test_; }
    /// Nothing after the last gossip step.
    [[nodiscard]] std::optional<ViewInnovations::Innovation> next();
    /// Findings about seeds that members must not hold.
    [[nodiscard]] std::vector<std::string> leak_findings() const {
        return messages_.leak_findings();
    }

  private:
    RecordedMessages messages_;
    MessageProcess seen_;  // with the plan as messages_ knows it
    KnownInputs known_;
    ViewInnovations test_;
    long time_ = 0;
};

/// A check of masked shares that members got in secure sums: the difference of two shares of one
/// sender for one receiver is uniform modulo 2^64, unless both have the same masks; then it is the
/// difference of two messages, and small.
struct MaskCheck {
    long pairs = 0;                     ///< shares compared; 0: shares were not recorded
    std::vector<std::string> findings;  ///< one per sender and receiver with repeated masks
};

/// Cost: the square of the number of exchanges for every neighbour of every member, 256 coordinates
/// each. A false alarm has probability below 1e-15 per pair.
/// @param folder `views` of a run directory.  @throws DataError for incomplete files.
[[nodiscard]] MaskCheck check_masks(const std::filesystem::path& folder,
                                    const View& view,
                                    const Graph& graph);

}  // namespace sotto
