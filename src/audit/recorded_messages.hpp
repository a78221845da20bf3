#pragma once

#include <Eigen/Dense>
#include <filesystem>
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

/// Recordings of a run as the accountant's filter sees them (ViewInnovations), gossip step by
/// gossip step. The filter knows the noise of every seed that members turned out to hold.
class RecordedInnovations {
  public:
    /// @param views folder `views` of the run directory.  @param process the run as its plan says;
    /// outlives the object.  @param dimension that the recorded models must have.  @param reason of
    /// that dimension, for the message: "rows have 8".
    /// @throws DataError for another dimension; as RecordedMessages and ViewInnovations.
    RecordedInnovations(const std::filesystem::path& views,
                        const View& view,
                        const MessageProcess& process,
                        Eigen::Index dimension,
                        const std::string& reason,
                        int threads);
    RecordedInnovations(const RecordedInnovations&) = delete;
    RecordedInnovations& operator=(const RecordedInnovations&) = delete;

    [[nodiscard]] const ViewInnovations& test() const { return test_; }
    /// Of the next gossip step; nothing after the last.
    [[nodiscard]] std::optional<ViewInnovations::Innovation> next();
    /// Findings about seeds that members hold against the plan.
    [[nodiscard]] std::vector<std::string> leak_findings() const;

  private:
    const NoisePlan& plan_;
    RecordedMessages messages_;
    MessageProcess seen_;  // with the plan as messages_ knows it
    ViewInnovations test_;
};

/// Masked shares that members of a view got in secure sums, looked at one by one: the difference of
/// two shares of one sender for one receiver is uniform modulo 2^64, unless both carry the same
/// masks; then it is the difference of two messages, and small.
struct MaskCheck {
    long pairs = 0;                     ///< of shares compared; 0: shares were not recorded
    std::vector<std::string> findings;  ///< one a sender and receiver whose masks repeat
};

/// Cost: the square of the number of exchanges for every neighbour of every member, 256 coordinates
/// each. White shares are taken for repeated ones with probability below 1e-15 a pair.
/// @param folder `views` of a run directory.  @throws DataError for files that are not whole.
[[nodiscard]] MaskCheck check_masks(const std::filesystem::path& folder,
                                    const View& view,
                                    const Graph& graph);

}  // namespace sotto
