#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "audit/recorded_messages.hpp"
#include "sotto/views/view_record.hpp"
#include "views/view_innovations.hpp"

namespace sotto {

/// What somebody who sees all messages learns from runs whose mixing is no fixed matrix. Models are
/// functions of the messages, so that all that is unknown in a message is
///
///     y_i = sum_(t in S_i) eta_t (g_u(t) + v_u(t)) + sum_(t in O_i) eta_t v_u(t),
///
/// S_i the rounds whose contribution it holds, O_i those whose noise it holds alone. The covariance
/// of all y follows from the plan, without the streams whose seeds members hold.
class RecordedSteps {
  public:
    /// Reads all of them. Cost: the cube of the number of messages, memory its square and trials
    /// times it.
    /// @param views folder `views` of the run directory.  @param process the run according to its
    /// plan: Gaussian noise on gradients, independent over rounds, without momentum.
    /// @param dimension required of the recorded models.
    /// @throws DataError as RecordedMessages, and for recordings whose rounds are impossible;
    /// ConfigError for more than most_messages.
    RecordedSteps(const std::filesystem::path& views,
                  const View& view,
                  const MessageProcess& process,
                  Eigen::Index dimension,
                  const std::string& reason,
                  int threads);
    static constexpr Eigen::Index most_messages = 6000;

    /// y, whitened.
    [[nodiscard]] ViewInnovations::Innovation innovation() const { return whitened(values_); }
    /// As ViewInnovations::responses.
    [[nodiscard]] ViewInnovations::Innovation responses(std::span<const int> agents,
                                                        const Eigen::MatrixXd& contributions) const;
    [[nodiscard]] std::vector<std::string> leak_findings() const { return leaks_; }
    /// Rounds of agents for which no message was sent.
    [[nodiscard]] long missed() const { return missed_; }

  private:
    struct Message {
        int sender = 0;
        Eigen::VectorXd holds;  ///< WireRecord::holds
    };
    [[nodiscard]] ViewInnovations::Innovation whitened(const Eigen::MatrixXd& values) const;
    void set_whitening(const Eigen::MatrixXd& noise);

    std::vector<double> step_sizes_;
    std::vector<Message> messages_;
    Eigen::MatrixXd values_;            // y, messages x d
    Eigen::MatrixXd rows_, noiseless_;  // whitening
    std::vector<std::string> leaks_;
    long missed_ = 0;
};

}  // namespace sotto
