#include "noise.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account/plan_job.hpp"
#include "agent/bootstrap.hpp"
#include "agent/contribution.hpp"
#include "arrays.hpp"
#include "job.hpp"
#include "learn/clipped_records.hpp"
#include "learn/handed_objective.hpp"
#include "noise/noise_source.hpp"
#include "options/plan_options.hpp"
#include "planning/planning.hpp"
#include "privacy/ledger_json.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/ledger.hpp"
#include "tasks/task.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

using Eigen::Index;

/// What all agents share: process 0's plan, which every agent has checked, and the keys of its
/// noise.
struct SharedNoise {
    NoisePlan plan;
    std::string authentication;
    std::vector<KeyRing> rings;
};

SharedNoise share_noise(Network& network, const MadePlan& made, std::optional<std::uint64_t> seed) {
    SharedNoise shared;
    network.agree([&] {
        if (made.plan().agents != network.agents())
            throw ConfigError(fmt::format("plan: for {} agents; there are {} (allowed: as many)",
                                          made.plan().agents,
                                          network.agents()));
        if (made.config.plan.participation.is_secret())
            throw ConfigError(fmt::format(
                "plan: participation {} is not possible here: who takes part is drawn by an agent "
                "(allowed: every, cyclic:b; sotto.Agent has it)",
                name_of(made.config.plan.participation)));
    });
    const Topography topography =
        share_topography(network,
                         made.built.topography,
                         most_mixing_matrices(made.config.graph, made.config.plan.rounds));
    shared.plan =
        share_plan(network, made.plan(), topography.graph, most_temporal_values(made.config.plan));
    verify_agreement(network,
                     topography,
                     shared.plan,
                     made.counted.exposures,
                     made.counted.budgets,
                     shared.plan.coalition_size);
    Session session = open_session(network, topography, shared.plan, nullptr);
    shared.authentication = session.authentication();
    shared.rings = seed ? distribute_seeds(network, shared.plan, *seed)
                        : distribute_seeds(network, shared.plan, session);
    return shared;
}

Ledger ledger_of(const MadePlan& made, const SharedNoise& shared, Index dimension, bool seeded) {
    PrivacyRecord record = made.record();
    record.phases.back().plan = shared.plan;
    record.dimension = static_cast<long>(dimension);
    record.reproducible_noise = seeded;
    record.authentication = shared.authentication;
    record.more_statements.push_back(
        "Noise for another program: that messages are made of it and of earlier messages, mixed as "
        "planned, that records take part as often as planned, and that nothing else of the data "
        "leaves, is that program's word.");
    return Ledger(std::move(record));
}

/// Noise of the agents of this process, each round drawn once, with its ledger.
class Source {
  public:
    Source(std::shared_ptr<MadePlan> made,
           std::optional<int> communicator,
           Index dimension,
           std::optional<std::uint64_t> seed)
        : made_(std::move(made)),
          network_(make_network(communicator, made_->plan().agents)),
          dimension_(dimension) {
        together(*network_, [&] {
            network_->agree([&] {
                if (dimension_ < 1)
                    throw ConfigError(
                        fmt::format("dimension: {} is not allowed (at least 1)", dimension_));
                require_room(dimension_,
                             network_->local_agents().size(),
                             fmt::format("dimension: {} is too large here", dimension_));
            });
            SharedNoise shared = share_noise(*network_, *made_, seed);
            network_->agree([&] {
                source_.emplace(shared.plan, shared.rings, 1);
                ledger_.emplace(ledger_of(*made_, shared, dimension_, seed.has_value()));
            });
            plan_ = std::move(shared.plan);
        });
        noise_ = Eigen::MatrixXd::Zero(dimension_, std::ssize(source_->outputs()));
    }

    /// A forked process leaves MPI to the process that made it.
    ~Source() {
        if (!gate_.in_its_process()) (void)network_.release();
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// Noise of the next round: outputs x d, or d if there is one output.
    py::array draw() {
        const RoundGate::Stay stay = gate_.enter();
        next_round();
        return result(noise_);
    }
    /// Clipped gradients of the local agents, with the noise of the next round.
    py::array noisy(const py::object& given) {
        const RoundGate::Stay stay = gate_.enter();
        const py::array array = gradients_from(given);
        const HandedGradients handed = gradients_in(array);
        require_gradients(handed);
        Eigen::MatrixXd clipped(dimension_, std::ssize(network_->local_agents()));
        if (protects_agents(made_->config.plan.adjacency))
            clip_each(handed, clipped);
        else
            sum_clipped(handed, clipped.col(0));
        next_round();
        Eigen::MatrixXd contributions = noise_;
        for (Index o = 0; o < noise_.cols(); ++o)
            contributions.col(o) += clipped.col(
                static_cast<Index>(source_->outputs()[static_cast<std::size_t>(o)].local_index));
        return result(contributions);
    }

    [[nodiscard]] long round() const { return round_; }
    [[nodiscard]] const MadePlan& made() const { return *made_; }
    [[nodiscard]] std::vector<std::pair<int, int>> outputs() const {
        std::vector<std::pair<int, int>> all;
        const auto local = network_->local_agents();
        for (const NoiseOutput& output : source_->outputs())
            all.emplace_back(local[output.local_index], output.receiver);
        return all;
    }
    [[nodiscard]] double epsilon() const { return ledger_->epsilon_after(round_); }
    [[nodiscard]] double mu() const { return ledger_->mu_after(round_); }
    [[nodiscard]] std::string ledger() const {
        const bool all = round_ == made_->config.plan.rounds;
        return to_json(
            *ledger_, all ? Ledger::Status::completed : Ledger::Status::interrupted, round_);
    }
    [[nodiscard]] std::vector<std::string> statements() const {
        return statements_of(ledger_->record());
    }

  private:
    /// Requires one gradient per agent or, from a single agent, one per record.
    void require_gradients(const HandedGradients& handed) const {
        if (plan_.entry != NoiseEntry::gradient)
            throw ConfigError(fmt::format(
                "noisy: mechanism {} adds noise to messages, not to gradients (use draw())",
                plan_.mechanism));
        const Index agents = std::ssize(network_->local_agents());
        const bool records = !protects_agents(made_->config.plan.adjacency);
        if (records && agents > 1)
            throw ConfigError(
                "noisy: records of several agents in one process are not possible "
                "(allowed: one process an agent, or adjacency agent)");
        std::visit(
            [&](const auto& all) {
                if (all.rows() != dimension_ || (!records && all.cols() != agents))
                    throw ConfigError(fmt::format("gradients: {} x {} is not allowed ({} x {})",
                                                  all.cols(),
                                                  all.rows(),
                                                  records ? "records" : std::to_string(agents),
                                                  dimension_));
            },
            handed);
    }
    void clip_each(const HandedGradients& handed, Eigen::MatrixXd& clipped) const {
        std::visit([&](const auto& all) { clipped = all.template cast<double>(); }, handed);
        const bool l1 = plan_.distribution() == StreamDistribution::laplace;
        for (Index a = 0; a < clipped.cols(); ++a)
            (void)clip_to_grid(clipped.col(a), l1, made_->config.plan.clip_norm, plan_.grid_step());
    }
    /// The sum of clipped gradients over B, on the grid.
    void sum_clipped(const HandedGradients& handed, Eigen::Ref<Eigen::VectorXd> sum) const {
        const auto agent = static_cast<std::size_t>(network_->local_agents().front());
        const auto divisor = static_cast<double>(made_->counted.exposures[agent].batch_size);
        const double clip = made_->config.plan.clip_norm;
        const double grid = divisor * plan_.grid_step();
        std::visit(
            [&](const auto& all) {
                require_clip_and_grid(clip, grid, static_cast<std::size_t>(all.cols()), all.cols());
                ClippedRecords records(clip, grid, sum);
                records.add_columns(all, [](auto) {});
                records.finish();
            },
            handed);
        sum /= divisor;
    }
    void next_round() {
        if (round_ >= made_->config.plan.rounds)
            throw PrivacyError(
                fmt::format("round: {} is not allowed (below {}: the plan's noise is used up)",
                            round_,
                            made_->config.plan.rounds));
        const py::gil_scoped_release others_may_run;
        const auto round = static_cast<std::uint64_t>(round_++);  // counts even if this fails
        source_->draw(0, round, noise_);
    }
    [[nodiscard]] py::array result(const Eigen::MatrixXd& columns) const {
        if (columns.cols() == 1) return py::array_t<double>(columns.rows(), columns.data());
        return py::array_t<double>({columns.cols(), columns.rows()}, columns.data());
    }

    RoundGate gate_{"noise source"};
    std::shared_ptr<MadePlan> made_;
    std::unique_ptr<Network> network_;
    Index dimension_;
    NoisePlan plan_;
    std::optional<NoiseSource> source_;
    std::optional<Ledger> ledger_;
    Eigen::MatrixXd noise_;
    long round_ = 0;  // rounds drawn: each once
};

}  // namespace

void bind_noise(py::module_& module) {
    py::class_<Source>(module, "NoiseSource")
        .def(py::init<std::shared_ptr<MadePlan>,
                      std::optional<int>,
                      Index,
                      std::optional<std::uint64_t>>(),
             py::arg("plan"),
             py::arg("communicator"),
             py::arg("dimension"),
             py::arg("noise_seed"))
        .def("draw", &Source::draw)
        .def("noisy", &Source::noisy, py::arg("gradients"))
        .def_property_readonly("round", &Source::round)
        .def_property_readonly("outputs", &Source::outputs)
        .def_property_readonly("epsilon", &Source::epsilon)
        .def_property_readonly("mu", &Source::mu)
        .def_property_readonly("statements", &Source::statements)
        .def_property_readonly("ledger_json", &Source::ledger);
}

}  // namespace sotto::python
