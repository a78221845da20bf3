#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agent/evaluation.hpp"
#include "agent/liars.hpp"
#include "agent/local_agent.hpp"
#include "agent/message_coder.hpp"
#include "agent/robust_mixing.hpp"
#include "agent/robust_rule.hpp"
#include "agent/round_faults.hpp"
#include "agent/shared_preconditioner.hpp"
#include "core/stopwatch.hpp"
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
    Adjacency adjacency = Adjacency::agent;  ///< clip the gradient of a batch, or of each record
    bool coordinates = false;  ///< each coordinate is its own model (audits): clip |g_i| <= C
    StepSchedule steps;
    /// E per round, each on its own batch. Above 1: not with clipped records.
    int local_steps = 1;
    double client_probability = 1;      ///< q: contributions are clipped to C/q and divided by q
    double l2 = 0;                      ///< adds eta_t E l2 x, outside the clip (data-independent)
    GossipPolynomial gossip{1};         ///< of a round: K exchanges
    Smoothing smoothing{};              ///< with the final gossip of run_final_gossip()
    Preconditioning preconditioning{};  ///< of u, where noise enters the gradient
    long rounds = 1;                    ///< T of the training; a tail of models ends with it
    std::uint32_t key_epoch = 0;
    long first_noise_round = 0;  ///< first round of the key epoch: its noise is that of round 0
    int threads = 1;             ///< for local agents
    /// With MessagePrecision::nibble; the network's precision must be that then, and only then.
    std::optional<MessageSteps> message_steps{};
    /// Seconds from the beginning of a round until the agents of this process mix what has come;
    /// infinite: until set_deadline(). None: they wait for all.
    std::optional<double> deadline{};
    long max_lag = 0;  ///< rounds that agents may be apart with a deadline
    RoundFaults faults{};
    std::uint64_t faults_seed = 0;
    LiesByPlace lies{};  ///< of all agents; empty: all are honest
    /// Not with message_steps, a deadline, secure sums or a trusted mean; where limits follow from
    /// the plan, as HonestDrive says.
    RobustRule robust{};
};

/// H of RobustMixing: long, so that a lie that hides in the noise of a round is found, and a part
/// of the training.
[[nodiscard]] double robust_horizon(long rounds);

/// @throws ConfigError with the reason if secure sums cannot follow the plan: a trusted mean, or
/// messages that depend on the receiver.
void require_summable(const NoisePlan& plan);

/// What every local agent sends, from columns in the order of NoiseSource::outputs; points into
/// `messages`.
[[nodiscard]] std::vector<Outgoing> outgoing_messages(std::span<const NoiseOutput> outputs,
                                                      const Eigen::MatrixXd& messages,
                                                      std::size_t local_agents);

/// Values of messages lie within -this and this: squares do not overflow, and training needs far
/// less. An agent's own larger values are limited to the nearest allowed one; receiving more ends
/// the job, naming the sender.
inline constexpr double largest_message_value = 1e100;
/// Bound of mixed messages, rounding included.
inline constexpr double largest_model_value = 2 * largest_message_value;

/// Time of this process for the parts of all rounds [s].
struct RoundSeconds {
    double gradient = 0, noise = 0, exchange = 0, mix = 0;
    [[nodiscard]] double total() const { return gradient + noise + exchange + mix; }
};

/// The rounds of all agents of one process ([W] eq. 6):
///
///     g = clip(gradient);  u_u <- B u_u + g_u + v_u;  m_u = x_u - eta_t u_u - eta_t l2 x_u;  send;
///     x_u <- sum_v w_uv m_v.
///
/// - B: momentum, 0 by default.
/// - With a preconditioner m_u = x_u - eta_t P u_u - eta_t l2 x_u; agents exchange models until
/// they
///   agree, and renew P, every R rounds (SharedPreconditioner).
/// - Exact diffusion: what was m_u is psi_u, and m_u = psi_u + (eta_t / eta_(t-1)) (x_u - psi_u of
///   the round before), which is 0 in the first round after a start.
/// - Tracking: a round has two exchanges (of K steps each), y_u <- sum_v w_uv (y_v + u_v - u_v of
///   the round before), from zeros, and x_u <- sum_v w_uv (x_v - eta_t P y_v - eta_t l2 x_v).
/// - E local steps: g is the clip of (x_u - y_E) / eta_t - E l2 x_u, y_0 = x_u, y_{e+1} = y_e -
///   eta_t (gradient at y_e) - eta_t l2 y_e, and E l2 x_u replaces l2 x_u.
/// - Noise that enters the message: m_u = s_u + v_u with s_u = x_u - eta_t g_u - eta_t l2 x_u
///   rounded to the plan's grid, for which the clip leaves room. If it depends on the receiver,
///   every neighbour gets its own message, and the agent keeps another (of s_u without rounding).
/// - Push-sum: gradients are taken at z_u = x_u / w_u, which is also the result; every process
///   mixes w for all agents, since it follows from the weights.
/// - K gossip steps: agents send and mix K times; later messages are the mixed models, combined
///   with earlier ones by the GossipPolynomial.
/// - Trusted mean: x_u <- mean of all messages.
/// - Secure sums: x_u <- w_uu m_u + the received sum, with fixed-point rounding.
///
/// Gradient and noise lie on the plan's grid: their sum is exact, and its low-order bits do not
/// depend on the data. All messages, the agent's own included, are rounded to the network's
/// MessagePrecision after their noise. With short messages (message_steps) agents send codes of
/// them (MessageCoder), and observers see what others know of each message.
///
/// An agent's data can change only the values it sends. They cannot end the job or change its
/// course: a gradient (or record's gradient) that is not finite becomes zero, s_u and m_u are
/// limited to a range that is the same for all agents, and report() counts both.
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

    /// Replaces the initial models by these (d x local agents). @throws DataError unless values are
    /// within -largest_model_value and largest_model_value.
    void start_from(const Eigen::MatrixXd& models);
    /// Also restores velocities u and means of models; no columns if there are none.
    /// @param rounds_done of the training.
    /// @throws DataError as start_from, and for sizes that do not fit the options.
    void start_smoothing_from(const Eigen::MatrixXd& velocities,
                              const Eigen::MatrixXd& means,
                              long rounds_done);

    /// Also restores what a correction keeps: psi, or y and u of the round before; no columns if
    /// there is none. Without this call the next round is as the first.
    /// @throws DataError as start_from, and for sizes that do not fit the correction.
    void start_correction_from(const Eigen::MatrixXd& carried, const Eigen::MatrixXd& directions);

    /// Also restores the preconditioner, if there is one: x at its last renewal, and v.
    /// @throws as SharedPreconditioner::resume.
    void start_preconditioner_from(const Eigen::MatrixXd& anchors, const Eigen::MatrixXd& moments);

    /// Round t (from 0, each once, in ascending order). COLLECTIVE without a deadline.
    /// With one, messages of neighbours that are late give their weight to the agent's own. A
    /// process that is behind computes the gradients of round t and sends them as those of the
    /// round after the one its neighbours have reached. It sends nothing for the rounds between,
    /// but their noise with its next message, so that it cancels with that of others.
    /// @param meeting with a deadline: the round before which all meet.
    /// @return the next round; at most `meeting`.
    /// @throws NetworkError naming the sender of a message that is not finite or out of range;
    /// PrivacyError, before anything is drawn or sent, for a round begun before, a nested or
    /// concurrent round, and in a forked process (RoundGate).
    long run_round(long round, long meeting = std::numeric_limits<long>::max());
    /// After all have met: takes what came late, so that models have all rounds so far, from all.
    void take_late();
    /// From the next round on.
    void set_deadline(double seconds) { options_.deadline = seconds; }
    /// From the next round on. Precondition: there is a robust rule.
    /// @param check of the local agents.
    void check_shared_noise(SharedNoiseCheck check);
    /// What the local agents noticed about their neighbours; empty without a robust rule.
    [[nodiscard]] std::vector<Suspicion> suspicions() const;
    /// Rounds with a deadline for which the local agents sent nothing.
    [[nodiscard]] long rounds_skipped() const { return rounds_skipped_; }
    /// Of these: whose noise no later message held.
    [[nodiscard]] long rounds_without_noise() const {
        return rounds_without_noise_ + std::ssize(owed_rounds_);
    }
    /// Before set_deadline(): after how many seconds of a round neighbours' messages were here.
    [[nodiscard]] const std::vector<double>& arrivals() const { return arrivals_; }

    /// Call after the last round: models become the results before final gossip, the means if
    /// agents keep them.
    void take_means();
    /// The exchanges of final gossip; call after the last round T. Messages are models or means,
    /// which follow from messages already sent; observers are not called. COLLECTIVE.
    /// @throws NetworkError as run_round; Error if noise enters the messages.
    void run_final_gossip();

    /// Of one local agent, since construction. It depends on the agent's data.
    [[nodiscard]] const AgentReport& report(std::size_t local_index) const {
        return reports_[local_index];
    }
    /// Largest value in messages, the same on every process: the least of largest_message_value and
    /// the limits of their precision, of the plan's grid if noise enters the message, and of secure
    /// sums.
    [[nodiscard]] double message_limit() const { return std::min(message_limit_, grid_limit_); }

    /// x, d x local agents.
    [[nodiscard]] const Eigen::MatrixXd& models() const { return models_; }
    /// z = x / w with push-sum, else models(). d x local agents.
    [[nodiscard]] const Eigen::MatrixXd& estimates() const {
        return weights_ ? estimates_ : models_;
    }
    /// u, d x local agents; no columns without momentum.
    [[nodiscard]] const Eigen::MatrixXd& velocities() const { return velocities_; }
    /// psi with exact diffusion, y with tracking, d x local agents; no columns otherwise.
    [[nodiscard]] const Eigen::MatrixXd& carried() const { return carried_; }
    /// u of the last round with tracking, d x local agents; no columns otherwise.
    [[nodiscard]] const Eigen::MatrixXd& directions() const { return directions_; }
    /// Means of models so far, d x local agents; no columns if there are none.
    [[nodiscard]] const Eigen::MatrixXd& means() const { return means_.values(); }
    /// Null without one.
    [[nodiscard]] const SharedPreconditioner* preconditioner() const {
        return preconditioner_ ? &*preconditioner_ : nullptr;
    }
    [[nodiscard]] std::vector<LocalAgent>& agents() { return agents_; }
    [[nodiscard]] const std::vector<LocalAgent>& agents() const { return agents_; }
    [[nodiscard]] RoundSeconds seconds() const;
    [[nodiscard]] const Smoothing& smoothing() const { return options_.smoothing; }
    /// Adds an observer, which must outlive the rounds.
    void observe(RoundObserver* observer);
    /// From the next round on, agents learn sums only; the plan must pass require_summable.
    /// @param sums one per local agent, same order.
    void use_secure_sums(std::vector<SecureSum> sums);

    /// Bytes of vectors in one process for this many local agents, their own messages a round (one
    /// each, or one per receiver), their neighbours' messages, and what the options add:
    /// velocities, vectors of a correction, means of models, earlier messages; without NoiseSource.
    /// @param push_sum whether there are estimates beside models.
    /// @param preconditioned whether there is a SharedPreconditioner.
    /// @param short_messages whether there is a MessageCoder.
    /// @param kept vectors of received messages that a robust rule keeps (RobustMixing).
    [[nodiscard]] static std::int64_t memory_bytes(std::int64_t dimension,
                                                   std::int64_t local_agents,
                                                   std::int64_t own_messages,
                                                   std::int64_t received_messages,
                                                   const GossipPolynomial& gossip = 1,
                                                   const Smoothing& smoothing = {},
                                                   bool push_sum = false,
                                                   bool preconditioned = false,
                                                   bool short_messages = false,
                                                   std::int64_t kept = 0);

  private:
    void compute_contribution(long round, std::size_t agent);
    void keep_gradients();
    /// Makes the parts that options.lies and options.robust ask for.
    void prepare_for_lies(const NoisePlan& plan);
    void begin_noise(long round);
    void finish_noise(long round);
    /// Draws part of the next round's noise during the exchange.
    /// @return whether more is left.
    bool draw_while_waiting();
    /// From model, gradient and noise, block by block. @return number of limited values.
    std::size_t make_message(double step, std::size_t output);
    /// Coordinates [first, first + count).
    std::size_t make_part(double step, std::size_t output, Eigen::Index first, Eigen::Index count);
    /// Sets coordinates of a message, from `first`, to x_u - eta_t P u_u - eta_t l2 x_u, or to that
    /// of y with tracking. @param by u_u.
    template <class Direction>
    void move(double step,
              Eigen::Index agent,
              Eigen::Index first,
              Eigen::Ref<Eigen::VectorXd> message,
              const Direction& by) const;
    /// Sets them to x_u - eta_t P u_u - eta_t l2 x_u, with or without tracking. @param by u_u.
    template <class Direction>
    void move_model(double step,
                    Eigen::Index agent,
                    Eigen::Index first,
                    Eigen::Ref<Eigen::VectorXd> message,
                    const Direction& by) const;
    /// Adds a correction's part, limits and rounds, and keeps what was sent for the next round.
    std::size_t finish_part(Eigen::Index agent,
                            Eigen::Index first,
                            Eigen::Ref<Eigen::VectorXd> message);
    /// With tracking, the message x_u - eta_t l2 x_u - eta_t P y_u.
    std::size_t make_tracked_step(double step, std::size_t output);
    /// Limits values of a message to the range and rounds them to the network's precision.
    /// @return how many were limited.
    std::size_t limit_and_round(std::span<double> message) const;
    /// Makes all outgoing messages; a report counts each with limited values once.
    /// @param make one of them, and returns how many of its values were limited.
    void make_messages(const std::function<std::size_t(std::size_t output)>& make);
    /// Makes the models the outgoing messages of this exchange.
    void send_models(ExchangeId id);
    /// With short messages, makes the codes of the messages.
    void encode(ExchangeId id);
    void show_messages(ExchangeId id) const;
    /// x_u <- mean of all messages.
    void take_trusted_mean(long round);
    /// Meanwhile the noise of the next round is drawn.
    void exchange_round(long round);
    /// All exchanges of a round, the first with the messages that are made.
    void exchange_messages(long round);
    /// Sleeps as options.faults say. @param start of the round's gradients.
    void be_slow(Clock::time_point start);
    void note_arrivals();
    /// Draws the noise of rounds for which nothing was sent, so that others' noise cancels; takes
    /// no longer than the gradients did, and leaves out the noise of the last rounds otherwise.
    /// @param round that is sent next.
    void owe_noise(long first, long round);
    /// The round that the process takes part in: t, or with a deadline a later one.
    [[nodiscard]] long round_to_join(long round, long meeting);
    /// When the exchange of a gossip step is to end. @param start of the round.
    void set_deadline_of(int step, int steps);
    /// Restricts messages to edges of the round's matrix, and to agents that are not silent.
    void choose_messages(long round);
    /// Exchanges models, which observers do not see.
    /// @param first_step number of the first exchange within the round.
    void exchange_models(long round, int first_step, const GossipPolynomial& gossip);
    /// Runs the polynomial's exchanges. @param shown to observers.
    void exchange_and_mix(ExchangeId first, const GossipPolynomial& gossip, bool shown);
    /// x_u <- the combination of the round's messages, within the range of models.
    void take_combination();
    void renew_preconditioner(long round);
    void show_mixed(long round) const;
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
    Clock::time_point begun_;  // the round
    std::vector<double> arrivals_;
    Eigen::MatrixXd owed_;  // sum of eta_t v of rounds for which nothing was sent; as noise_
    std::vector<long> owed_rounds_;
    long rounds_skipped_ = 0, rounds_without_noise_ = 0;
    double other_seconds_ = 0;          // of noise and mixing, up to the round before
    std::vector<AgentReport> reports_;  // one per local agent
    double message_limit_;
    double grid_limit_;  // of a message before its noise; infinite if noise enters the gradient
    [[nodiscard]] Eigen::MatrixXd& gradients() {
        return gradients_.cols() > 0 ? gradients_ : messages_;
    }
    Eigen::MatrixXd models_;                 // d x local agents
    std::optional<PushSumWeights> weights_;  // with push-sum
    Eigen::MatrixXd estimates_;              // d x local agents, with push-sum
    // As gradients(); no columns if gradients become messages in place, without observers.
    Eigen::MatrixXd gradients_;
    Eigen::MatrixXd velocities_;  // with momentum
    Eigen::MatrixXd carried_;     // psi or y, with a correction
    Eigen::MatrixXd directions_;  // u of the round before, with tracking
    double carry_ = 1;            // eta_t / eta_(t-1)
    std::optional<SharedPreconditioner> preconditioner_;
    std::optional<MessageCoder> coder_;  // with short messages
    std::unique_ptr<Liars> liars_;       // null: all are honest
    ModelMean means_;
    Eigen::MatrixXd noise_, messages_;  // d x outputs of the noise source
    long noise_round_ = -1;             // whose noise noise_ holds, possibly in part
    bool noise_left_ = false;           // part of it is not drawn yet
    Eigen::MatrixXd earlier_;           // messages of the previous exchange, if needed
    Eigen::MatrixXd combined_;          // of the round's messages, if gossip combines them
    std::vector<Outgoing> outgoing_;
    RoundSeconds seconds_;
};

}  // namespace sotto
