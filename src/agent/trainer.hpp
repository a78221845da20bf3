#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/local_agent.hpp"
#include "net/network.hpp"
#include "noise/noise_source.hpp"
#include "sotto/design/design.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/graph/mixing_schedule.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/budget.hpp"
#include "sums/secure_sum.hpp"

namespace sotto {

class MessageMixing;

struct TrainerOptions {
    double clip_norm = 0.1;                  ///< C > 0, L2
    Adjacency adjacency = Adjacency::agent;  ///< clips the gradient of a batch, or each record's
    bool coordinates = false;  ///< every coordinate is a model of its own (audits): clip |g_i| <= C
    StepSchedule steps;
    /// E of an agent in a round, each on a batch of its own. Above 1: not with clipped records.
    int local_steps = 1;
    double client_probability =
        1;          ///< q: an agent's contribution is divided by it, and clipped to C/q
    double l2 = 0;  ///< adds eta_t E l2 x, outside the clip (data-independent)
    GossipPolynomial gossip{1};  ///< of a round: K times the agents exchange and mix
    Smoothing smoothing{};       ///< final gossip: of finish()
    long rounds = 1;             ///< T of the training: a tail of models ends with it
    std::uint32_t key_epoch = 0;
    long first_noise_round =
        0;            ///< round in which the key epoch began: its noise is that of round 0
    int threads = 1;  ///< for agents of one process
};

/// @throws ConfigError saying why if agents that learn sums only cannot follow the plan: a trusted
/// mean, or messages that depend on the receiver.
void require_summable(const NoisePlan& plan);

/// What every local agent sends, from columns in the order of NoiseSource::outputs; pointers into
/// `messages`.
[[nodiscard]] std::vector<Outgoing> outgoing_messages(std::span<const NoiseOutput> outputs,
                                                      const Eigen::MatrixXd& messages,
                                                      std::size_t local_agents);

/// Values of messages lie within -this and this: far from where squares overflow, and far above
/// what any training needs. What an agent would send beyond is brought to the nearest value that is
/// allowed; an agent that receives more ends the job, naming the sender.
inline constexpr double largest_message_value = 1e100;
/// What is mixed of such messages stays below this, however it is rounded.
inline constexpr double largest_model_value = 2 * largest_message_value;

/// Time this process spent on the parts of a round, summed over rounds [s].
struct RoundSeconds {
    double gradient = 0, noise = 0, exchange = 0, mix = 0;
    [[nodiscard]] double total() const { return gradient + noise + exchange + mix; }
};

/// The rounds of all agents of one process ([W] eq. 6):
///
///     g = clip(gradient);  u_u <- B u_u + g_u + v_u;  m_u = x_u - eta_t u_u - eta_t l2 x_u;  send;
///     x_u <- sum_v w_uv m_v.
///
/// With E local steps g is the clip of (x_u - y_E) / eta_t - E l2 x_u, y_0 = x_u,
/// y_{e+1} = y_e - eta_t (gradient at y_e) - eta_t l2 y_e, and E l2 x_u stands for l2 x_u.
/// B is the momentum, 0 unless asked for.
///
/// Where the plan's noise enters the message, m_u = s_u + v_u with s_u = x_u - eta_t g_u - eta_t l2
/// x_u rounded to the plan's grid, of which the clip leaves room; where it depends on the receiver,
/// every neighbour gets a message of its own, and the agent keeps another (of s_u without
/// rounding).
/// Where mixing is push-sum, gradients are taken at z_u = x_u / w_u, which is what agents end up
/// with too; w is mixed beside x, by every process for all agents, since it follows from the
/// weights. With K gossip steps the agents send and mix K times; in the later steps m_u is what
/// they mixed, combined with what they had before as the GossipPolynomial says. Gradient and noise
/// lie on the plan's grid, so their sum is exact and its low-order bits do not depend on the data.
/// Messages are rounded to the network's MessagePrecision after their noise, the agent's own among
/// them. With a trusted mean, x_u <- mean of all messages. With secure sums, x_u <- w_uu m_u + the
/// sum, all that u receives; it differs from the above by fixed-point rounding.
///
/// Nothing that depends on an agent's data ends the job or changes what is sent of it but the
/// values: a gradient (or record's gradient) that is not finite becomes zero, s_u and m_u are
/// brought into a range that is the same for all agents, and both are counted in report().
class Trainer {
  public:
    /// @param network connected to the graph.  @param agents one per local agent, same order.
    /// @param noise of the same agents.  @param initial model of every agent, d.
    Trainer(Network& network,
            const MixingSchedule& mixing,
            const NoisePlan& plan,
            NoiseSource noise,
            std::vector<LocalAgent> agents,
            const Eigen::VectorXd& initial,
            TrainerOptions options);
    Trainer(Trainer&&) noexcept;
    ~Trainer();

    /// Goes on from these models (d x local agents) instead of the initial one. @throws DataError
    /// if a value is not within -largest_model_value and largest_model_value.
    void start_from(const Eigen::MatrixXd& models);
    /// Goes on with these velocities u and means of models besides; without columns where there are
    /// none. @param rounds_done of the training.
    /// @throws DataError as start_from, and for sizes that do not fit the options.
    void start_smoothing_from(const Eigen::MatrixXd& velocities,
                              const Eigen::MatrixXd& means,
                              long rounds_done);

    /// Round t (from 0, each once, in ascending order). COLLECTIVE. @throws NetworkError naming the
    /// sender for a message that is not finite or out of range; PrivacyError, before anything is
    /// drawn or sent, for a round that began before, within a round (an objective that calls this,
    /// another thread), and in a process that was forked (RoundGate).
    void run_round(long round);

    /// After the last round: models are what agents end up with before final gossip, the mean of
    /// their models where they keep one.
    void take_means();
    /// After the last round T: the exchanges of final gossip. What is sent are models or means of
    /// them, which follow from messages that all were sent already; observers see nothing of it.
    /// COLLECTIVE. @throws NetworkError as run_round; Error where messages before noise are sent.
    void run_final_gossip();

    /// Of one local agent, since this trainer was made. It depends on the agent's data.
    [[nodiscard]] const AgentReport& report(std::size_t local_index) const {
        return reports_[local_index];
    }
    /// Largest value that messages of this run carry, the same on every process: of
    /// largest_message_value, what their precision holds, what the plan's grid holds where noise
    /// enters the message, and what secure sums hold.
    [[nodiscard]] double message_limit() const { return std::min(message_limit_, grid_limit_); }

    /// x, d x local agents: what is mixed.
    [[nodiscard]] const Eigen::MatrixXd& models() const { return models_; }
    /// z, what has been learnt: x / w with push-sum, else models(). d x local agents.
    [[nodiscard]] const Eigen::MatrixXd& estimates() const {
        return weights_ ? estimates_ : models_;
    }
    /// u of every agent, d x local agents; no columns without momentum.
    [[nodiscard]] const Eigen::MatrixXd& velocities() const { return velocities_; }
    /// Means of models so far, d x local agents; no columns where there are none (yet).
    [[nodiscard]] const Eigen::MatrixXd& means() const { return means_.values(); }
    [[nodiscard]] std::vector<LocalAgent>& agents() { return agents_; }
    [[nodiscard]] const std::vector<LocalAgent>& agents() const { return agents_; }
    [[nodiscard]] RoundSeconds seconds() const;
    [[nodiscard]] const Smoothing& smoothing() const { return options_.smoothing; }
    /// From now on; any number of observers, which must live as long as the rounds.
    void observe(RoundObserver* observer);
    /// From the next round on agents learn sums only; the plan must pass require_summable.
    /// @param sums one per local agent, same order.
    void use_secure_sums(std::vector<SecureSum> sums);

    /// Bytes of the vectors one process keeps for this many local agents, messages of their own a
    /// round (as many, or one for every receiver) and of their neighbours, and what the options ask
    /// for besides: velocities, means of models, messages of the exchange before; beside those of
    /// its NoiseSource.
    /// @param push_sum whether there are estimates beside models.
    [[nodiscard]] static std::int64_t memory_bytes(std::int64_t dimension,
                                                   std::int64_t local_agents,
                                                   std::int64_t own_messages,
                                                   std::int64_t received_messages,
                                                   const GossipPolynomial& gossip = 1,
                                                   const Smoothing& smoothing = {},
                                                   bool push_sum = false);

  private:
    void compute_contribution(long round, std::size_t agent);
    void keep_gradients();
    void begin_noise(long round);
    /// What is missing of a round's noise.
    void finish_noise(long round);
    /// Draws some of the next round's noise, in time that was the exchange's.
    /// @return whether more is left.
    bool draw_while_waiting();
    /// @return values that were brought into range.
    std::size_t make_message(double step, std::size_t output);
    /// Brings what is about to be sent into range, and to the network's precision; a report counts
    /// a message that was out of range once.
    /// @param limited values of each that were brought into range already.
    void limit_messages(std::vector<std::size_t> limited);
    /// Shows observers what every local agent is about to send.
    void show_messages(ExchangeId id) const;
    /// x_u <- mean of all messages.
    void take_trusted_mean(long round);
    /// Of a round; meanwhile the noise of the next one is drawn.
    void exchange_round(long round);
    /// Sends and mixes as often as the polynomial has steps. @param shown to observers.
    void exchange_and_mix(long round, const GossipPolynomial& gossip, bool shown);
    void show_mixed(long round) const;
    /// Makes estimates of models.
    void estimate();

    RoundGate gate_{"training"};
    Network& network_;
    std::unique_ptr<MessageMixing> mixing_;
    bool trusted_mean_;
    NoiseEntry entry_;
    bool l1_clip_;
    double grid_step_;
    NoiseSource noise_source_;
    std::vector<LocalAgent> agents_;
    TrainerOptions options_;
    std::vector<RoundObserver*> observers_;
    std::vector<AgentReport> reports_;  // one per local agent
    double message_limit_;
    double grid_limit_;  // of a message before its noise; infinite where noise enters the gradient
    /// Of the local agents, of this round.
    [[nodiscard]] Eigen::MatrixXd& gradients() {
        return gradients_.cols() > 0 ? gradients_ : messages_;
    }
    Eigen::MatrixXd models_;                 // d x local agents
    std::optional<PushSumWeights> weights_;  // with push-sum
    Eigen::MatrixXd estimates_;              // d x local agents, with push-sum
    // The same; no columns where a gradient becomes its agent's one message, and nobody looks on.
    Eigen::MatrixXd gradients_;
    Eigen::MatrixXd velocities_;  // with momentum
    ModelMean means_;
    Eigen::MatrixXd noise_, messages_;  // d x outputs of the noise source
    long noise_round_ = -1;             // whose noise is in noise_, as far as it is drawn
    bool noise_left_ = false;           // some of it is not
    Eigen::MatrixXd earlier_;           // messages of the exchange before, where they count
    std::vector<Outgoing> outgoing_;
    RoundSeconds seconds_;
};

}  // namespace sotto
