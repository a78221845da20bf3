#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/recorded_messages.hpp"

namespace sotto {

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

}  // namespace sotto
