#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/topography.hpp"
#include "net/control.hpp"
#include "planning/choices.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

// Rounds, batches, clip and steps without knobs (docs/equations.md#training-without-knobs).

/// Public numbers from which rounds and batches follow.
struct TuningCase {
    double records = 0;      ///< N: agents times the fewest records of one
    double all_records = 0;  ///< of all agents
    double mu = 0;           ///< smallest of the budgets
    /// nz >= 1: standard deviation of the noise that the plan leaves, over that of a trusted
    /// aggregator. 0: no noise.
    double noise_ratio = 1;
    double survey_ratio = 1;  ///< likewise, of all records' sum in a survey
    /// s: standard deviation of a coordinate of one round's noise in the mean model, in units of
    /// the clip, if every agent uses this share of its records in each of so many rounds.
    std::function<double(double share, long rounds)> noise;
};

/// T: the smallest of 100, 150, 200, 300, 400, 500, 700, 1000 that is at least mu N / (20 nz), at
/// least 200; 1000 beyond.
[[nodiscard]] long tuned_rounds(const TuningCase& tuning);

/// q: the smallest of .01, .02, .05, .1, .2, .4, .7, 1 with q N >= min(256, .2 N) and either 1 / (s
/// sqrt T) >= 20 or s(q) <= 1.1 s(1). Cost: s for every candidate.
[[nodiscard]] double tuned_share(const TuningCase& tuning, long rounds);

/// Clip and mean step size.
struct TunedStep {
    double clip_norm = 1;
    double step_size = 1;
};

/// What clip and step follow from.
struct StepCase {
    double norm = 1;                    ///< g > 0
    std::optional<double> clip_norm{};  ///< C, if it is given
    double noise = 0;                   ///< s
    long rounds = 1;                    ///< T
    Eigen::Index dimension = 1;         ///< d
    double momentum = 0;                ///< B: steps count 1 / (1 - B) times
    /// Agents' records may differ in kind, which pulls their models apart: half the step, which has
    /// the lower loss and no less accuracy at the hospitals of examples/heart and with dirichlet:1
    /// on a9a.
    bool differing_records = false;
    /// Values are predicted and no classes.
    bool values = false;
    /// These values are in units of their bounds, so errors are a few tenths where 1 / g^2
    /// presumes about 1: a tenth of the step.
    bool values_in_bounds = false;
};

/// C = g / 2 unless given, and eta = min(80 / g^2, max(1.4 / (C g s sqrt T), min(4 d / g^2, 20 /
/// g^2, .2 / (d C^2 s^2)), .65 / g^2)), the last for classes only. 1 / g^2 is the natural step
/// where learning begins. Noise adds at most g^2 (eta C s)^2 T / 2 to the loss where nothing
/// contracts it, and at most d eta (C s)^2 / 4 whatever the curvature, if eta is stable: for a
/// curvature of g^2 in all that is spread evenly over d directions, or over ten of many, it is
/// soon. With smaller steps than .65 / g^2 models hardly leave the first one, and since what is
/// learnt and the noise shrink alike, classes are told apart no better.
[[nodiscard]] TunedStep tuned_step(const StepCase& of);

/// Rounded to four digits, alike on all machines.
[[nodiscard]] double rounded_to_digits(double value);

/// The plan by which the rule compares noise: in units of the clip, with all records in each of 400
/// rounds, for the last models.
[[nodiscard]] PlanConfig with_all_records(PlanConfig config);

/// What is measured in paid rounds before the training, one for each kind.
struct Measured {
    bool moments = false;  ///< of columns, which scale them
    bool norms = false;    ///< of gradients, which decide clip and steps
    [[nodiscard]] int surveys() const { return (moments ? 1 : 0) + (norms ? 1 : 0); }
    /// Of mu^2.
    [[nodiscard]] double share() const {
        return (moments ? survey_of_moments.share : 0) + (norms ? survey_of_norms.share : 0);
    }
};

/// What was chosen before the first round.
struct Tuning {
    bool active = false;  ///< something was left to the rule, and it chose
    Measured measured;
    double noise = 0;  ///< s
    double norm = 0;   ///< g, once measured
    /// Clip and step are those for usual gradients, since noise would hide the norms of these.
    bool usual_norms = false;
    GossipChoice exchanges;  ///< which were chosen before (settle_exchanges)
    std::string why_not;     ///< why the rule is not used, if values were left to it by default
};

/// What a training asks to have chosen or measured.
struct TuningWishes {
    std::string obstacle;  ///< why no paid round is possible; empty: it is
    std::string no_rule;   ///< why the tuning rule is not; empty: it is, unless a paid round is not
    bool classes = false;  ///< what gradients of cross-entropy presume
    Eigen::Index columns = 0;  ///< k, whose moments are asked for; 0: none
};

/// Chooses rounds and batches that are left open, and decides what is measured: process 0 does, and
/// processes that plan compare. If the rule is not possible, takes 1000 rounds, batches of 128 (or
/// of the fewest records of an agent), clip 1 and step size 0.5 for what is open by default.
/// Moments are measured only where mu N / (nz sqrt(2k)) is at least 20, norms where their noise is
/// at most an eighth of N; elsewhere clip and step for classes are those for g = 2 in many
/// dimensions where records differ in kind, and the rule is not possible for values. COLLECTIVE.
/// @param records of every agent.  @param solves whether this process plans.
/// Cost: one plan, and about ten noise multipliers.
/// @throws ConfigError if --tune auto or --standardise private is not possible; NetworkError for
/// another choice of process 0; the same on every process.
[[nodiscard]] Tuning settle_tuning(AskedPlan& plan,
                                   const TuningWishes& wishes,
                                   const Topography& topography,
                                   const std::vector<Eigen::Index>& records,
                                   Control& network,
                                   bool solves);

/// The first reason why these options exclude paid rounds before a training, and the tuning rule;
/// empty if there is none.
[[nodiscard]] std::string obstacle_to_surveys(const AskedPlan& plan, const Topography& topography);
[[nodiscard]] std::string obstacle_to_rule(const AskedPlan& plan);

/// The plan that surveys scale, with the seeds of the training's. That plan's noise is made for
/// batches in proportion to agents' records, where in a survey every record counts alike. So if
/// agents differ in size by more than a factor of 2, and all have noise of their own, this noise
/// alone, equal at all agents. A schedule of the noise over rounds does not count.
[[nodiscard]] NoisePlan plan_of_surveys(NoisePlan training,
                                        const std::vector<Eigen::Index>& records);

/// mu that paid rounds may spend of a budget.
[[nodiscard]] double survey_mu(const PrivacyBudget& budget, double share);

}  // namespace sotto
