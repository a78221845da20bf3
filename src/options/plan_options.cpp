#include "options/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "design/seed_groups.hpp"
#include "options/option_set.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

namespace {

OptionFormat<std::string> mechanism_name(AllowedValues allowed) {
    return {std::move(allowed),
            [](const std::string& option, const std::string& text) {
                return find_mechanism(option, text).name;
            },
            [](const std::string& name) { return name; }};
}

/// Kind and band of the factor; its restart is a separate option.
Binding<AskedPlan> temporal_kind() {
    static constexpr std::string_view chosen = "auto";
    return {OptionKind::value,
            one_of({"auto", "dense", "banded:B", "one-lag"}),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                const long restart = config.temporal.restart;
                config.open.temporal = text == chosen;
                config.temporal =
                    config.open.temporal ? TemporalShape() : parse_temporal(option, text, chosen);
                config.temporal.restart = restart;
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                if (config.open.temporal) return std::string(chosen);
                return temporal_text(config.temporal);
            }};
}

Binding<AskedPlan> temporal_restart() {
    return {OptionKind::value,
            whole(1).allowed,
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                config.temporal.restart = static_cast<long>(whole(1).read(option, text));
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                if (config.temporal.restart == 0) return std::nullopt;
                return std::to_string(config.temporal.restart);
            }};
}

/// Which records participate when; b of the cycle may be left open.
Binding<AskedPlan> participation_of_records() {
    static constexpr std::string_view chosen = "cyclic-poisson:auto";
    return {OptionKind::value,
            one_of({"every",
                    "cyclic:b",
                    "poisson",
                    "cyclic-poisson:b",
                    "cyclic-poisson:auto",
                    "allocation:t"}),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                config.open.cycle = text == chosen;
                config.participation = config.open.cycle
                                           ? Participation{.cycle = 1, .poisson = true}
                                           : parse_participation(option, text);
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                return config.open.cycle ? std::string(chosen) : name_of(config.participation);
            }};
}

/// L, or "auto"; not written if a training has to choose it.
Binding<AskedPlan> final_gossip() {
    constexpr long long most = 100000;
    return {OptionKind::value,
            numbers_in(*whole(0, most).allowed.range,
                       among_others("auto, or a whole number from 0", {"auto"})),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                config.open.final_gossip = false;
                config.final_gossip.reset();
                if (text != "auto")
                    config.final_gossip = static_cast<int>(whole(0, most).read(option, text));
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                if (config.open.final_gossip) return std::nullopt;
                return config.final_gossip ? std::to_string(*config.final_gossip)
                                           : std::string("auto");
            }};
}

/// For values that are squared: noise, clips and steps.
OptionFormat<double> positive_with_a_square() { return real_between(1e-100, 1e100); }

constexpr std::string_view tuned = "auto";

/// A value of which `auto` leaves the choice to the tuning rule.
template <class Value>
Binding<AskedPlan> left_to_tuning(bool OpenChoices::*open,
                                  OptionFormat<Value> format,
                                  AllowedValues allowed,
                                  std::function<void(AskedPlan&, Value)> set,
                                  std::function<Value(const AskedPlan&)> get) {
    return {OptionKind::value,
            std::move(allowed),
            [=](AskedPlan& config, const std::string& option, const std::string& text) {
                config.open.*open = text == tuned;
                if (text != tuned) set(config, format.read(option, text));
            },
            [=](const AskedPlan& config) -> std::optional<std::string> {
                return config.open.*open ? std::string(tuned) : format.write(get(config));
            }};
}

/// C, the start of a learned C, or "auto".
Binding<AskedPlan> clip_norm() {
    static constexpr std::string_view learnt = "learnt", from = "learnt:";
    OptionFormat<std::pair<double, bool>> format;
    format.read = [](const std::string& option, const std::string& text) {
        if (text == learnt) return std::pair{PlanConfig{}.clip_norm, true};
        const bool starts_there = text.starts_with(from);
        return std::pair{
            positive_with_a_square().read(option, starts_there ? text.substr(from.size()) : text),
            starts_there};
    };
    format.write = [](const std::pair<double, bool>& clip) {
        return (clip.second ? std::string(from) : std::string()) + real_text(clip.first);
    };
    return left_to_tuning<std::pair<double, bool>>(
        &OpenChoices::clip_norm,
        std::move(format),
        numbers_in(*positive_with_a_square().allowed.range,
                   among_others("a number from 1e-100 to 1e100, auto, learnt, learnt:C",
                                {"auto", "learnt", "learnt:C"})),
        [](AskedPlan& config, std::pair<double, bool> clip) {
            std::tie(config.clip_norm, config.learn_clip) = clip;
        },
        [](const AskedPlan& config) {
            return std::pair{config.clip_norm, config.learn_clip};
        });
}

/// T, or "auto". A linear schedule ends with the last round.
Binding<AskedPlan> training_rounds() {
    return left_to_tuning<long long>(
        &OpenChoices::rounds,
        whole(1),
        numbers_in(*whole(1).allowed.range,
                   among_others("auto, or a whole number from 1", {"auto"})),
        [](AskedPlan& config, long long rounds) {
            config.rounds = config.steps.rounds = static_cast<long>(rounds);
        },
        [](const AskedPlan& config) { return static_cast<long long>(config.rounds); });
}

Binding<AskedPlan> batch_size() {
    return left_to_tuning<BatchSize>(
        &OpenChoices::batch_size,
        named(among_others("", {"NUMBER", "SHARE", "all"}), parse_batch_size),
        among_others("", {"NUMBER", "SHARE", "all", "auto"}),
        [](AskedPlan& config, BatchSize size) { config.batch_size = size; },
        [](const AskedPlan& config) { return config.batch_size; });
}

Binding<AskedPlan> step_size() {
    return left_to_tuning<double>(
        &OpenChoices::step_size,
        positive_with_a_square(),
        numbers_in(*positive_with_a_square().allowed.range,
                   among_others("auto, or a number from 1e-100 to 1e100", {"auto"})),
        [](AskedPlan& config, double size) { config.steps.step_size = size; },
        [](const AskedPlan& config) { return config.steps.step_size; });
}

/// Not written unless given, since the default depends on what is possible.
Binding<AskedPlan> tuning() {
    static constexpr std::string_view off = "off";
    return {OptionKind::value,
            one_of({std::string(tuned), std::string(off)}),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                if (text != tuned && text != off)
                    throw unknown_name_error(
                        option, text, std::vector{std::string(tuned), std::string(off)});
                config.tune = text == tuned;
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                if (!config.tune) return std::nullopt;
                return std::string(*config.tune ? tuned : off);
            }};
}

/// One of the corrections, or "auto".
Binding<AskedPlan> correction() {
    static constexpr std::string_view chosen = "auto";
    std::vector<std::string> names{std::string(chosen)};
    std::ranges::copy(correction_names(), std::back_inserter(names));
    return {OptionKind::value,
            one_of(names),
            [names](AskedPlan& config, const std::string& option, const std::string& text) {
                if (std::ranges::find(names, text) == names.end())
                    throw unknown_name_error(option, text, names);
                config.open.correction = text == chosen;
                config.correction =
                    config.open.correction ? Correction::none : parse_correction(option, text);
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                return config.open.correction ? std::string(chosen) : name_of(config.correction);
            }};
}

/// K, or "auto".
Binding<AskedPlan> gossip_steps() {
    static constexpr std::string_view chosen = "auto";
    return {OptionKind::value,
            numbers_in(*whole(1, 1000).allowed.range,
                       among_others("auto, or a whole number from 1 to 1000", {"auto"})),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                config.open.gossip_steps = text == chosen;
                config.gossip_steps = config.open.gossip_steps
                                          ? 1
                                          : static_cast<int>(whole(1, 1000).read(option, text));
            },
            [](const AskedPlan& config) -> std::optional<std::string> {
                return config.open.gossip_steps ? std::string(chosen)
                                                : std::to_string(config.gossip_steps);
            }};
}

/// The schedule without its first step size, which is a separate option.
Binding<AskedPlan> step_schedule() {
    static constexpr std::string_view linear = "linear";
    return {
        OptionKind::value,
        among_others(
            "", {"constant", "inverse-sqrt", "inverse", "linear", "piecewise:ROUND:FACTOR,..."}),
        [](AskedPlan& config, const std::string& option, const std::string& text) {
            const double size = config.steps.step_size;
            config.steps = text == linear ? StepSchedule{StepSchedule::Kind::linear, size, {}, 0}
                                          : parse_step_schedule(option, text, size);
            if (text == linear) config.steps.rounds = config.rounds;
            config.schedule_given = true;
        },
        [](const AskedPlan& config) -> std::optional<std::string> {
            const bool whole_run = config.steps.kind == StepSchedule::Kind::linear &&
                                   config.steps.rounds == config.rounds;
            return whole_run ? std::string(linear) : name_of(config.steps);
        }};
}

/// Which noise is added, and by whom.
std::vector<Option<AskedPlan>> mechanism_options() {
    return {
        {{.name = "mechanism",
          .common = true,
          .help = "{}",
          .details = R"(
`pairs` (the default) and `corn-hbc` protect against everybody who sees all messages, and against any `--coalition-size
q` agents who see them (default 1). `decor` and `ldp` do so if `--coalition-size` is given. `corn` withstands no curious
agent: q >= 1 is refused. `decor` has the same noise on every edge, which is rarely worth its price against curious
agents, where its plans have as much noise as those of `ldp`. With `--seed-groups edges`, every edge has the optimal
noise, next to one private variance for all agents. `muffliato` is `ldp` for several `--gossip-steps`.

`cdp` and `dp-fedavg` are references for comparison: a trusted server, agent 0, sees all messages and protects their
mean. `dp-fedavg` is federated averaging: agents may make several `--local-steps` and may take part at random
(`--client-probability`).

`mafalda`, `space-time` and `anti-pgd` correlate noise over rounds. The first two need a record adjacency and
`--participation cyclic:b` or `cyclic-poisson:b` (with `every` nothing can be gained), and keep `sensitivity_squared` at
ceil(T/b). The sensitivity of `anti-pgd` (z_t - z_{t-1}) is larger, and so is its noise. Their objective is that of the
trajectory, whatever `--utility` says, and depends on `--step-schedule`.

`zip-dl`, `homomorphic` and `laplace` add noise to messages. That noise does not scale with the step size, so their
plans depend on `--step-size` and `--step-schedule`. `homomorphic` and `laplace` clip gradients in L1 norm, their
`--epsilon` is pure (in the results `delta` is 0 and `mu` is null), and they protect adjacencies of agents only. Their
`objective` is null. `--gossip-steps` above 1 and, where noise depends on the receiver, `--secure-sum` are not possible.
Their guarantee is about messages: models and what is computed from them are not covered, and the ledger says so. With
`zip-dl` and `homomorphic`, `--l2` times the step size is at most 2; beyond that, contributions would grow from round to
round.)",
          .peers_may_set = false},
         bound(&PlanConfig::mechanism, mechanism_name(one_of(mechanisms().names())))},
        {{.name = "utility", .help = "what the noise plan minimises: {}"},
         bound(&PlanConfig::utility,
               named(one_of({"one-step", "horizon:H", "trajectory", "final"}), parse_utility))},
        {{.name = "spatial-mechanism",
          .help = "how space-time correlates agents: {}",
          .details = R"(
`--coalition-size` and `--seed-groups` apply to this mechanism. The `lower_bound` of `space-time` is null, because the
joint problem is not convex.)",
          .peers_may_set = false},
         bound(&PlanConfig::spatial_mechanism,
               mechanism_name("ldp, decor, corn, corn-hbc, pairs"))},
        {{.name = "temporal",
          .help = "temporal factor of mafalda and space-time: {}",
          .details = R"(
The form of the temporal factor of `mafalda` and `space-time` decides how many rounds of past noise an agent keeps while
it trains (each has as many values as the model has parameters; `--dry-run` counts them). `dense` keeps all rounds, at
most 2000. `banded:B` keeps B rounds, and `banded:0` means independent rounds. `one-lag` keeps one round, for noise
z_t - rho z_{t-1} with the best rho; its `sensitivity_squared` is its own, while the other forms keep it at ceil(T/b).
`auto` takes `dense` if the past noise of all agents fits into 2 GiB and takes no longer to read than a round's noise
takes to draw and its gradients to sum; otherwise it takes the widest band for which that holds, or `one-lag` if that
leaves less noise. The plan and its JSON (`temporal_choice`) say which form was taken, and config.ini of a run keeps it.
The choice depends on model, batches and agents, never on the machine. `sotto plan` and `sotto account` take the size of
the model from `--dimension`; without it they assume one parameter.)",
          .ranks_must_agree = true},
         temporal_kind()},
        {{.name = "temporal-restart",
          .help =
              "H: the temporal factor starts again every H rounds, independently of earlier rounds",
          .details = R"(
At most H - 1 rounds of noise are kept, and any number of rounds can be planned (H is at most 2000). Without this
option, plans for more than 2000 rounds need B of `banded:B` below b of `cyclic:b`, and `lower_bound` is null, as with
`one-lag`. Above 2000 rounds the mixing matrix must be symmetric. For long runs, `dense` with H of several cycles leaves
the least noise; a band of B gains little more than a factor B + 1 over independent rounds.)",
          .ranks_must_agree = true},
         temporal_restart()}};
}

/// The budget, and what it protects.
std::vector<Option<AskedPlan>> budget_options() {
    return {{{.name = "epsilon",
              .common = true,
              .other_names = {"target-epsilon"},
              .help = "epsilon of the privacy budget, > 0",
              .peers_may_set = false},
             bound(&PlanConfig::epsilon, positive_real())},
            {{.name = "delta",
              .other_names = {"target-delta"},
              .help = "delta of the privacy budget, in (0, 1)",
              .peers_may_set = false},
             bound(&PlanConfig::delta, real_inside_unit_interval())},
            {{.name = "noise-std",
              .other_names = {"sigma", "noise-multiplier"},
              .help = "S, instead of a budget: in every round, noise of this standard deviation "
                      "hides an agent from whoever sees all messages",
              .details = R"(
The plan is solved for kappa = 1/S^2: in every round, noise of standard deviation S hides an agent from whoever sees all
messages of that round (and from coalitions, where the mechanism withstands them). With `ldp` and `muffliato`, S^2 is
the private variance; with `anti-pgd`, S is the standard deviation of z. It cannot be combined with `--plan`,
`--budgets` or an `--epsilon` other than the default. The ledger says what the run spends.)",
              .peers_may_set = false},
             bound(&PlanConfig::noise_std, positive_with_a_square())},
            {{.name = "calibration", .help = "{}", .peers_may_set = false},
             bound(&PlanConfig::calibration,
                   named(one_of({"exact", "rdp", "paper"}), parse_calibration))},
            {{.name = "adjacency",
              .common = true,
              .help = "what is protected: agent (all its data, replaced), agent-zero-out, record "
                      "(replaced), record-zero-out, record-add-remove",
              .details = R"(
`agent-zero-out`: either all data of an agent count or none of them; the sensitivity is C, while that of `agent` is 2C.
`record-add-remove`: one record is added or removed, and the divisor of the batch does not change; the sensitivity is
C/B, as with `record-zero-out`.)",
              .peers_may_set = false},
             bound(&PlanConfig::adjacency,
                   named(among_others("", adjacency_names()), parse_adjacency))},
            {{.name = "unit-agents",
              .help = "K: a person may have records at up to so many agents, and the budget holds "
                      "for what all of them send together",
              .details = R"(
With 1, what is protected lies at one agent: everything of one person at that agent (`--unit-column`), one record, or all
data of the agent. A person who has records at several agents is then protected less: all those agents' messages tell
about the same person. With K, the noise of a plan is scaled so that the budget holds for every person with records at up
to K agents, whichever they are, against the same observers; `account` prints what a given plan, noise or run reveals
about such persons ([how](../accounting.md#persons-at-several-sites)). Agents need not know who else has records of a
person. Possible with Gaussian noise, and with `--participation` every, cyclic:b and poisson; in a training without
rounds that measure something before it, and only as long as no agent leaves or joins.)",
              .peers_may_set = false},
             bound(&PlanConfig::unit_agents, whole(1, 1000000))},
            {{.name = "clip-norm",
              .common = true,
              .other_names = {"max-grad-norm", "max-norm", "l2-norm-clip"},
              .help = "L2 clip C of a gradient: {}",
              .details = R"(
The default is 0.1 with an adjacency of agents, where the gradient of a batch is clipped, and 1 with an adjacency of
records, where the gradient of every record is clipped. config.ini of a run keeps the one that was used.

`auto` measures C in a paid round before the training (`--tune`).

`learnt` learns C during training, starting from the default (`learnt:C` starts from C), as a quantile of the norms of
gradients (of records, with an adjacency of records), after [Andrew et al. 2021](https://arxiv.org/abs/1905.03871): the
quantile 0.9, paid for with 5% of mu^2. Contributions are then rescaled to the C at the start, so that `--step-size`
says how far a round moves a model, whatever C has become ([equations](../equations.md#a-clip-that-is-learnt)). `plan`
and `account` count contributions of the C at the start.)",
              .standing = "0.1, or auto with an adjacency of records",
              .peers_may_set = false},
             clip_norm()}};
}

/// Number and size of steps.
std::vector<Option<AskedPlan>> round_options() {
    return {
        {{.name = "rounds",
          .common = true,
          .other_names = {"epochs", "iterations", "steps"},
          .help = "training rounds T",
          .standing = "1000, or auto with an adjacency of records",
          .ranks_must_agree = true},
         training_rounds()},
        {{.name = "step-size",
          .common = true,
          .other_names = {"lr", "learning-rate"},
          .help = "step size eta, above 0",
          .standing = "0.05, or auto with an adjacency of records",
          .ranks_must_agree = true},
         step_size()},
        {{.name = "step-schedule",
          .help = "schedule of the step size: constant, inverse-sqrt, inverse (eta / t), linear "
                  "(from 2 eta to 0), piecewise:ROUND:FACTOR,... (eta times FACTOR from that "
                  "round on)",
          .details = R"(
`linear` takes 2 eta (1 - (t + 1/2) / T) in round t of T, whose mean is eta; it is the default where `--step-size` is
`auto`. `inverse` divides the step size by t + 1 in round t = 0, 1, ..., and `inverse-sqrt` by the square root of t + 1. Partial
views depend on the ratios of step sizes.)",
          .ranks_must_agree = true},
         step_schedule()},
        {{.name = "noise-schedule",
          .help = "how large the noise of every round is, for the same guarantee of all rounds: "
                  "constant, auto (least noise in the final models), FILE (relative standard "
                  "deviations)",
          .details = R"(
All rounds together reveal what they would with equal noise: sum 1 / sigma_t^2 does not change, so one round may have less
noise and another more. `auto` takes sigma_t in proportion to w_t^(-1/4), where w_t says how much of the noise of round t
is left in the model that is returned: it follows from `--step-schedule`, `--l2`, `--momentum` and `--average`, and from
no data ([equations](../equations.md#noise-that-changes-over-rounds)). With a constant step size and none of the others
that is equal noise. FILE has one number above 0 a line, for every round one; the largest may be 32 times the smallest.
Every rank compares the plan with its own options and file.

It is possible with mechanisms of Gaussian noise on gradients that is independent between rounds, with `--participation
every` and `poisson`. With `poisson` noise has at most 8 sizes, which are accounted one by one. A training that stops
early has spent what its rounds had, not its share of rounds.)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&PlanConfig::noise_schedule,
               any_text(among_others("", {"constant", "auto", "FILE"})))},
        {{.name = "local-steps",
          .help = "local steps E of an agent per round (dp-fedavg)",
          .details = R"(
Every step has a batch of its own and is not clipped; the total of the steps, divided by the step size, is clipped to
`--clip-norm`. More than one step needs an adjacency of agents. With 1, the gradient of the batch is clipped, as with
all other mechanisms ([equations](../equations.md#rounds-that-agents-miss)).)",
          .ranks_must_agree = true},
         bound(&PlanConfig::local_steps, whole(1, 10000))},
        {{.name = "client-probability",
          .help = "q: every agent takes part in a round with this probability (dp-fedavg)",
          .details = R"(
Every agent decides by a coin that nobody but the server knows as well. Contributions are divided by q, which means that
the server divides their sum by the expected number of participants, q times all agents. It needs `--adjacency
agent-zero-out` and `--participation poisson`, which is then the default
([equations](../equations.md#rounds-that-agents-miss)).)",
          .ranks_must_agree = true,
          .peers_may_set = false},
         bound(&PlanConfig::client_probability, real_between(1e-12, 1))}};
}

/// The records that an agent uses in a round.
std::vector<Option<AskedPlan>> batch_options() {
    return {{{.name = "batch-size",
              .common = true,
              .help = "records that an agent uses per round: a number, a share of its records "
                      "(0.1), or all",
              .details = R"(
A share suits sites of different sizes: each agent uses that part of its records, and at least one. `all` uses all
records of every agent in every round. With a record adjacency, both are possible only where data are read (`sotto
train`).)",
              .standing = "128, or auto with an adjacency of records",
              .peers_may_set = false},
             batch_size()},
            {{.name = "tune",
              .help = "{}: choose rounds, batches, clip and steps by a rule (default: auto with an "
                      "adjacency of records, where it is possible)",
              .details = R"(
Every one of `--rounds`, `--batch-size`, `--clip-norm` and `--step-size` that is not given is then `auto`, and
`--step-schedule` is `linear`. Rounds and batches follow from public numbers: records, budget and graph. Clip and steps
follow from the norms of gradients at the first model, which all agents count together in one paid round before the
training: it spends 2% of mu^2, and the ledger counts it
([equations](../equations.md#training-without-knobs)). `off` takes 1000 rounds, batches of 128, clip 1 and step size
0.5 where they are not given.

The rule is for one record or person protected, noise on gradients that is independent between rounds, and a fixed
mixing matrix. Elsewhere (and with `--view`, `--secure-sum`, `--noise-std` and `--plan`) the default is `off`, and
`--tune auto` is refused with the reason.

Under Open MPI's mpirun write `--tune=off`: it takes `--tune off` for an option of its own, and complains of a missing
file "off".)",
              .ranks_must_agree = true},
             tuning()},
            {{.name = "participation",
              .help = "{} (record adjacencies; default every, or poisson where records are added, "
                      "removed or zeroed out, batches are known and the mechanism allows it)",
              .details = R"(
`poisson`: every record joins the batch of every round with probability `--batch-size` / records of its agent, decided
by coins that only its agent knows. An observer then also has to guess which records took part, so the same guarantee
needs several times less noise. Sums are divided by `--batch-size`, however many records are drawn. It is possible with
the adjacencies `record-add-remove` and `record-zero-out` and with mechanisms that add independent noise to gradients in
every round. There it is the default, provided that batches and records are known (`sotto train`, or
`--sampling-probability`). Otherwise the default is `every`: every record may be in every batch.

`cyclic-poisson:b`: records are dealt once into b parts (from `--seed`). Round t draws from part t mod b only, and takes
each of its records with probability b times `--batch-size` / records, at most 1. A record then counts in every b-th
round only, so the rounds between may share noise: with `mafalda` and `space-time` and `--temporal banded:B`, B below b
(not with `dense`, unless it starts again every b rounds, and not with `one-lag`). `cyclic-poisson:auto` plans for b =
1, 2, 4, ... and takes the plan that leaves the least noise at the budget, with the widest band that b (and `banded:B`)
allow. The plan and its JSON (`cycle_choice`) say which b was taken and why, and config.ini of a run keeps it.

`allocation:t`: in every epoch of t rounds each record is in exactly one batch, which only its agent knows and draws
anew for every epoch. Batches have a t-th of the records on average, and sums are divided by that (rounded up) instead
of by `--batch-size`. All records are used equally often, and it costs less than coins of probability 1/t
([how much](../equations.md#random-allocation)). An epoch that begins counts whole: give `--rounds` as a multiple of t.)",
              .peers_may_set = false},
             participation_of_records()},
            {{.name = "sampling-probability",
              .other_names = {"sample-rate", "q"},
              .help = "probability q that a record is in a batch, for --participation poisson "
                      "where no data are read",
              .details = R"(
In a training, q is `--batch-size` / records of each agent. `sotto account --sampling-probability q --rounds T` with
`--noise-multiplier` or `--epsilon`, and without `--adjacency` and `--participation`, converts between noise and
epsilon.)",
              .peers_may_set = false},
             bound(&PlanConfig::sampling_probability, real_between(1e-12, 1))}};
}

/// Exchanges of messages, of which only the first of a round reveals something.
std::vector<Option<AskedPlan>> exchange_options() {
    return {{{.name = "gossip-steps",
              .help = "{}: mixing steps K per round, each of which sends messages",
              .details = R"(
Only the first exchange of a round reveals something new; the others cost time and bytes, but no privacy. Plans are made
for the number of steps. `auto` takes the smallest K whose planned noise is within a tenth of the trusted aggregator's,
or within a tenth of what the mechanism leaves if all agents have the same model after every round. `--max-bytes` limits
it; without that option, messages shorter than float64 (`--precision`) are sent at most as often as they fit into one
exchange of float64. `sotto plan` prints what K = 1, 2, 4 and 8 leave and cost, and config.ini of a run keeps the choice.

In `sotto train`, the default is `auto` where the rule of `--tune` chooses something, so that rounds and steps are those
for the noise that K leaves; with `--max-bytes` K is chosen after the rounds. The default is 1 elsewhere and with
`--mixing optimised`. [Why](../decisions/free-utility.md).)",
              .ranks_must_agree = true,
              .shapes_sums = true},
             gossip_steps()},
            {{.name = "gossip",
              .help = "weights of the exchanges of a round: {}",
              .details = R"(
`plain`: every exchange mixes the result of the one before, W^K. `chebyshev`: m_(k+1) = a_k W m_k - b_k m_(k-1), with
which K exchanges come as close to the mean as about K^2 plain ones; the mixing matrix must be symmetric and fixed.
`optimal`: agents keep the combination of the messages of `chebyshev` that leaves least noise by the plan's utility, for
noise that agents share with others (with noise of each agent's own: of such noise); at K = 2 and 4 that is much less than
either leaves. No secure sums and no `--precision nibble` (large weights); partial views are bounded by all messages.

In `sotto train`, where the rule of `--tune` chooses something and `--max-bytes` is not given, the default here is
`chebyshev`, or the one of the three that leaves least noise if K is given or bytes limit it.)",
              .ranks_must_agree = true},
             bound(&PlanConfig::gossip, named(one_of(gossip_rule_names()), parse_gossip_rule))},
            {{.name = "max-bytes",
              .help = "bytes that all agents together may send in the rounds, such as 500MB, for "
                      "--gossip-steps auto; refused if one exchange a round exceeds them",
              .ranks_must_agree = true},
             bound(&PlanConfig::max_bytes, byte_count())},
            {{.name = "final-gossip",
              .help = "{}: exchanges L after the last round, without gradients and noise",
              .details = R"(
The default is `auto` in `sotto plan`, `train` and `account` alike, but 0 where figures of the rounds alone are asked
for: with a `--view` of few messages (in `train` with any `--view`, so that partial views have figures of their own and
not those of all messages), with secure sums, with `--dropout-probability`, and in `sotto audit`. The exchanges use
Chebyshev weights if the mixing matrix is symmetric. `auto` makes as many exchanges as leave a twentieth of the
differences between agents' models, but at most a twentieth of all exchanges of the rounds (none with `--plan`).
Recorded views hold the rounds only. It is not possible where noise is added to messages, because that noise does not
hide models.)",
              .standing = "auto",
              .ranks_must_agree = true,
              .shapes_sums = true},
             final_gossip()}};
}

/// Processing of noisy messages and models, which costs no privacy.
std::vector<Option<AskedPlan>> smoothing_options() {
    return {
        {{.name = "average",
          .help = "final model of an agent: none (the last model), tail:F (the mean of the models "
                  "of the last F T rounds), ema:B (y <- B y + (1 - B) x)",
          .ranks_must_agree = true},
         bound(&PlanConfig::average,
               named(among_others("", {"none", "tail:F", "ema:B"}), parse_average))},
        {{.name = "correction",
          .help = "for data that differ between agents, whose own models it brings to the best "
                  "common one: {}",
          .details = R"(
With data that differ, agents' own models stay apart, the more the sparser the graph is. Both corrections remove this,
from messages and noisy gradients of earlier rounds, and cost no privacy. `exact-diffusion` sends as many bytes as
before and keeps one more vector; an agent gives its own message so much more weight that no eigenvalue of the mixing
matrix is below 0.02 (`laziness` in the results of `sotto plan`). `tracking` exchanges twice in every round, also allows
a `--mixing-schedule`, and keeps two more vectors. `auto` takes `exact-diffusion` if mixing is symmetric and fixed,
`tracking` if it changes, and `none` where neither is possible, with `--mixing optimised` and with `--plan`. Corrections
are not possible on directed graphs, with mixing whose columns do not sum to 1, with secure sums, where noise is added
to messages or correlated over rounds, and with a trusted aggregator. Plans are made for them; partial views are counted as if all
messages were seen ([equations](../equations.md#corrections-for-data-that-differ)).)",
          .ranks_must_agree = true},
         correction()},
        {{.name = "momentum",
          .help = "B from 0 to 0.9999: u <- B u + noisy gradient, x <- x - eta u",
          .details = R"(
It is not possible where noise is added to messages or correlated over rounds. The step size counts 1 / (1 - B) times as
much.)",
          .ranks_must_agree = true},
         bound(&PlanConfig::momentum, real_between(0, 0.9999))}};
}

/// Coalitions, and files.
std::vector<Option<AskedPlan>> shared_noise_options() {
    return {{{.name = "coalition-size",
              .help = "colluding agents q to withstand (default: 1 for pairs and corn-hbc, else 0)",
              .peers_may_set = false},
             bound(&PlanConfig::coalition_size, whole(0, 1000000))},
            {{.name = "seed-groups",
              .help = "which agents may share a seed (pairs, corn-hbc, decor): auto, all, edges, "
                      "all-pairs, neighbourhoods, nearest:K, circulant:K, FILE (default all-pairs, "
                      "above 62 agents nearest:10; for decor the edges, all with the same noise)",
              .details = R"(
`pairs` allows groups of two agents only. `nearest:K` pairs every agent with the K other agents that are fewest hops
away. `auto` makes rounds of large models faster: of all pairs it takes those whose plan leaves at most 2% more noise
than all of them, with few streams per agent ([how](../decisions/seed-groups.md#fewer-streams)); above 62 agents it is
`nearest:10`. FILE has the agent numbers of one group per line.)",
              .peers_may_set = false},
             bound(&PlanConfig::seed_groups, any_text(among_others("", seed_group_choices())))},
            {{.name = "common-variance",
              .help = "one private variance for all agents (pairs, corn-hbc)"},
             bound(&PlanConfig::common_variance, flag())},
            {{.name = "variance-cap",
              .help = "largest R_uu kappa_u, above 1, where the optimum would otherwise diverge"},
             bound(&PlanConfig::variance_cap, any_real())},
            {{.name = "plan-gap",
              .help = "largest certified relative gap between a plan and the optimum (pairs, "
                      "corn-hbc; default 0.01, above 200 agents 0.05)",
              .details = R"(
Plans of few agents (26 with all pairs) are solved to 1e-5 whatever is allowed. Larger plans are solved by prices and
weights, and their noise is usually closer to the optimum than the gap that they certify. Plans of `corn-hbc` and plans
with `--common-variance` may end some per cent above the allowed gap; every plan states its gap. Below 0.001 Newton's
method is used, whose cost grows with the cube of the number of pairs.)"},
             bound(&PlanConfig::plan_gap, real_between(1e-9, 1))},
            {{.name = "budgets",
              .help = "FILE with an epsilon for every agent",
              .details = R"(
Each line is `epsilon` or `agent epsilon`.)",
              .peers_may_set = false},
             bound(&PlanConfig::budgets_file, file_path())},
            {{.name = "plan",
              .help = "use the saved plan FILE instead of solving",
              .peers_may_set = false},
             bound(&PlanConfig::plan_file, file_path())}};
}

}  // namespace

OptionGroup<AskedPlan>& plan_options() {
    // A given mechanism is read after the one that --covariance implies.
    static OptionGroup<AskedPlan> group = option_group<AskedPlan>("Noise plan",
                                                                  {covariance_options(),
                                                                   mechanism_options(),
                                                                   budget_options(),
                                                                   round_options(),
                                                                   batch_options(),
                                                                   exchange_options(),
                                                                   smoothing_options(),
                                                                   shared_noise_options()});
    return group;
}

namespace {

/// It also sets the mechanism, so it must be read before --mechanism.
Binding<AskedPlan> covariance_file() {
    return {OptionKind::value,
            among_others("", {"FILE.npy"}),
            [](AskedPlan& config, const std::string& option, const std::string& text) {
                config.covariance_file = some_text().read(option, text);
                config.mechanism = mechanisms_with(&Mechanism::takes_covariance).front();
            },
            [](const AskedPlan& config) { return config.covariance_file; }};
}

}  // namespace

std::vector<Option<AskedPlan>> covariance_options() {
    return {{{.name = "covariance",
              .help = "FILE.npy with an n x n matrix that says how the noise of agents is "
                      "correlated; it selects mechanism covariance",
              .details = R"(
This makes a mechanism of your own from R of [equations](../equations.md#noise-plans), symmetric and positive definite,
float64. R is scaled so that the agent it hides least has its whole budget, and everything that is reported of other
mechanisms is reported of it. If every variance exceeds the sum of the absolute values of the other entries in its row,
the noise consists of private noise and of noise that pairs of agents share, and any `--coalition-size` is possible.
Otherwise it comes from one seed that all agents share, as with `corn`: any agent can remove all of it, and the ledger
says so. Every rank compares the plan with its own file. For noise of another form, write a plan of your own: [the plan
file](../plan-file.md).)",
              .peers_may_set = false},
             covariance_file()}};
}

namespace {

constexpr std::array<const char*, 4> tuned_options{
    "rounds", "batch-size", "clip-norm", "step-size"};

bool protects_records(const OptionTexts& given) {
    const auto adjacency = given.find("adjacency");
    return adjacency != given.end() &&
           !protects_agents(parse_adjacency("--adjacency", adjacency->second));
}

}  // namespace

OptionTexts with_default_clip(OptionTexts given) {
    if (!protects_records(given)) return given;
    std::string& clip = given.try_emplace("clip-norm", real_text(clip_of_records)).first->second;
    if (clip == "learnt") clip = "learnt:" + real_text(clip_of_records);
    given.try_emplace("step-size", real_text(step_of_records));
    return given;
}

OptionTexts with_tuning(OptionTexts given) {
    const auto is_auto = [&](const char* option) {
        const auto text = given.find(option);
        return text != given.end() && text->second == tuned;
    };
    const bool asked = std::ranges::any_of(tuned_options, is_auto);
    if (asked && !given.contains("tune")) given["tune"] = tuned;
    const auto tune = given.find("tune");
    if (asked && tune->second != tuned)
        throw ConfigError(
            "--tune: off is given, but a value of --rounds, --batch-size, --clip-norm or "
            "--step-size is auto (give a number, or leave --tune out)");
    if (tune == given.end() ? !protects_records(given) : tune->second != tuned) return given;
    for (const char* option : tuned_options) given.try_emplace(option, tuned);
    return given;
}

namespace {

constexpr std::array<std::string_view, 2> adjacencies{"record-add-remove", "record-zero-out"};

/// Text of an option, or the default.
std::string_view text_or(const OptionTexts& given,
                         const std::string& option,
                         std::string_view otherwise) {
    const auto found = given.find(option);
    return found == given.end() ? otherwise : std::string_view(found->second);
}

}  // namespace

OptionTexts with_default_participation(OptionTexts given) {
    if (given.contains("client-probability")) given.try_emplace("participation", "poisson");
    const Mechanism* const mechanism =
        mechanisms().look_up(text_or(given, "mechanism", PlanConfig{}.mechanism));
    if (std::ranges::find(adjacencies, text_or(given, "adjacency", "")) != adjacencies.end() &&
        text_or(given, "batch-size", "") != "all" && mechanism != nullptr &&
        mechanism->independent_rounds() && text_or(given, "calibration", "exact") == "exact")
        given.try_emplace("participation", "poisson");
    return given;
}

OptionTexts with_participation_without_data(OptionTexts given) {
    const bool known =
        given.contains("sampling-probability") || given.contains("client-probability");
    return known ? with_default_participation(std::move(given)) : given;
}

bool leaves_final_gossip_open(const OptionTexts& given, bool rounds_alone) {
    return !given.contains("final-gossip") && !rounds_alone;
}

}  // namespace sotto
