#include "agent.hpp"

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "audit/canary_influence.hpp"
#include "core/column_sums.hpp"
#include "job.hpp"
#include "learn/clipped_records.hpp"
#include "learn/handed_objective.hpp"
#include "learn/norm_histogram.hpp"
#include "noise/noise_source.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "privacy/ledger_json.hpp"
#include "signals.hpp"
#include "tasks/record_task.hpp"
#include "tasks/task_table.hpp"
#include "training/progress.hpp"
#include "training/stop_signal.hpp"
#include "training/train_job.hpp"
#include "training/train_report.hpp"
#include "training/training.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

using Vector = Eigen::Ref<const Eigen::VectorXd>;

constexpr auto clipped_by_program =
    "Gradients are clipped and added up by the user's program, and the guarantee rests on each "
    "record's part of the sum being no longer than the clip norm: sotto sees the sum and the "
    "norms, and refuses a sum that is longer than these allow, which is no proof.";

/// What the Python program says about its data and model.
struct Inputs {
    Eigen::Index dimension = 0;
    std::vector<Eigen::Index> records;  ///< of each local agent
    Eigen::Index most_rows = 1, most_summed_rows = 1;
    Eigen::VectorXd initial;
    std::string description;
    std::vector<Digest> data;  ///< of each or none
    std::string person;        ///< HandedInputs
};

/// Gradients that a Python function computes, part by part; each part is kept until the next one.
/// Python objects are touched under the GIL only.
class AskedGradients {
  public:
    AskedGradients(py::function function, py::handle agent)
        : function_(std::move(function)), agent_(agent) {}
    HandedGradients operator()(const Vector& model, std::span<const Eigen::Index> rows) {
        const py::gil_scoped_acquire python;
        last_ =
            gradients_from(function_(view_of(model.data(), model.size(), agent_), array_of(rows)));
        return gradients_in(last_);
    }

  private:
    py::function function_;
    py::handle agent_;  // owns the memory of the model
    py::array last_;
};

/// Gradients that the program has computed for a whole batch, handed over part by part.
class GivenGradients {
  public:
    explicit GivenGradients(py::array all) : all_(std::move(all)), view_(gradients_in(all_)) {}
    /// @throws ConfigError unless there is a gradient for each of `rows` rows.
    void require_count(std::size_t rows) const {
        const Eigen::Index given = std::visit([](const auto& all) { return all.cols(); }, view_);
        if (!std::cmp_equal(given, rows))
            throw ConfigError(fmt::format(
                "gradients: {} are not allowed ({}: one for each record of agent.batch())",
                given,
                rows));
    }
    HandedGradients operator()(const Vector&, std::span<const Eigen::Index> rows) {
        const Eigen::Index first = next_;
        next_ += std::ssize(rows);
        return std::visit(
            [&](const auto& all) -> HandedGradients {
                using View = std::remove_cvref_t<decltype(all)>;
                return View(all.data() + first * all.rows(), all.rows(), std::ssize(rows));
            },
            view_);
    }
    HandedGradients whole() const { return view_; }

  private:
    py::array all_;
    HandedGradients view_;
    Eigen::Index next_ = 0;
};

/// Sums that a Python function clips, part by part, as AskedGradients.
class AskedSums {
  public:
    AskedSums(py::function function, py::handle agent)
        : function_(std::move(function)), agent_(agent) {}
    HandedSum operator()(const Vector& model, std::span<const Eigen::Index> rows, double clip) {
        const py::gil_scoped_acquire python;
        last_ = KeptSum(function_(
            view_of(model.data(), model.size(), agent_), array_of(rows), py::float_(clip)));
        return last_.view();
    }

  private:
    py::function function_;
    py::handle agent_;  // owns the memory of the model
    KeptSum last_;
};

/// Losses that a Python function computes: (sum, correct or None, records).
HandedFunctions::Losses asked_losses(const py::object& function) {
    if (function.is_none()) return {};
    return [function](const Vector& model, Eigen::Index first, Eigen::Index stride) {
        const py::gil_scoped_acquire python;
        // A copy, since the model may be freed after the call.
        const py::array_t<double> copy(model.size(), model.data());
        const py::tuple said = function(copy, first, stride);
        if (said.size() != 3)
            throw ConfigError(
                "losses: (sum of losses, records classified correctly or None, "
                "records) is what the function must return");
        return LossSum{.loss = said[0].cast<double>(),
                       .correct = said[1].is_none() ? 0 : said[1].cast<double>(),
                       .records = said[2].cast<Eigen::Index>(),
                       .has_accuracy = !said[1].is_none()};
    };
}

/// @throws ConfigError for options that an agent of a Python program cannot have.
void require_possible(const TrainConfig& config, const Network& network) {
    if (config.task.task != python_task_name)
        throw ConfigError(
            fmt::format("resume: the run's task is {}; go on with `sotto train "
                        "--resume` (allowed here: runs of sotto.Agent)",
                        config.task.task));
    if (config.dry_run)
        throw ConfigError(
            "dry_run: an agent only trains (use sotto.plan, or `sotto train --dry-run`)");
    const int agents = config.resume ? network.agents() : config.graph.topology.agents;
    if (agents != network.agents())
        throw ConfigError(fmt::format(
            "agents: {} given, but there {} {} process{}; start one for each agent: mpirun -n {} "
            "python3 ...",
            agents,
            network.agents() == 1 ? "is" : "are",
            network.agents(),
            network.agents() == 1 ? "" : "es",
            agents));
}

/// The local agents of a program: one, or all of a simulation in one process. Functions that
/// concern one of them have its place, from 0.
class Agents {
  public:
    Agents(std::optional<int> communicator,
           const std::vector<std::string>& arguments,
           Inputs inputs)
        : network_(make_network(communicator, static_cast<int>(inputs.records.size()))),
          most_summed_rows_(inputs.most_summed_rows) {
        together(*network_, [&] {
            setup_ = read_train_setup(
                *network_, arguments, false, with_general(train_option_set().written()));
            network_->agree([&] { require_possible(setup_.config, *network_); });
            watch_for_stop();  // forgets stop requests to an earlier agent
            end_when_stopped();
            const bool leader = network_->process() == 0;
            progress_ =
                std::make_unique<Progress>(leader ? report_stream(setup_.general) : nullptr);
            training_ = std::make_unique<Training>(
                setup_.config,
                *network_,
                *progress_,
                [this] { return stop_wanted_ || stop_requested(); },
                [&] { return make_task(std::move(inputs)); });
        });
    }
    /// A forked process leaves files, messages and MPI to the process that made them.
    ~Agents() {
        if (gate_.in_its_process()) return;
        (void)training_.release();
        (void)progress_.release();
        (void)network_.release();
    }
    Agents(const Agents&) = delete;
    Agents& operator=(const Agents&) = delete;

    /// Measures norms of gradients before the first round (--tune auto); does nothing where nothing
    /// is to be measured. @param functions compute gradients, or with `clipped` their norms; one
    /// for each local agent.
    void tune(const std::vector<py::object>& functions, bool clipped, py::handle self) {
        const RoundGate::Stay stay = gate_.enter();
        if (!training_->to_survey()) return;
        require_under_way();
        for (const py::object& function : functions)
            if (PyCallable_Check(function.ptr()) == 0)
                throw ConfigError(
                    "gradients: an array is not possible before norms are measured (tune='auto': "
                    "give step() or tune() a function of model and rows; or use tune='off')");
        set_gradients(functions, clipped, self);
        compute([&] {
            state_gradients();
            training_->survey();
        });
    }
    /// @param given gradients of each local agent, or a function that computes them; with `clipped`
    /// their sum, which the program has clipped, and norms.
    bool step(const std::vector<py::object>& given, bool clipped, py::handle self) {
        tune(given, clipped, self);
        const RoundGate::Stay stay = gate_.enter();
        require_under_way();
        set_gradients(given, clipped, self);
        compute([&] {
            state_gradients();
            training_->run_round();
        });
        return training_->more();
    }
    /// The text of the summary, on every process.
    std::string finish() {
        const RoundGate::Stay stay = gate_.enter();
        if (!summary_.empty()) return summary_;
        if (failed_) throw Error(ExitCode::other, "the training has failed");
        failed_ = true;  // if it throws
        const bool leader = network_->process() == 0;
        together(*network_, [&] {
            const TrainResult result = training_->finish();
            progress_->finish();
            interrupted_ = result.interrupted;
            summary_ = network_->broadcast(
                leader ? summary_json(result, setup_.config.plan) : std::string(),
                most_document_bytes);
            if (leader) tell_result(report_stream(setup_.general), result, setup_.config);
        });
        failed_ = false;
        signals_.reset();
        return summary_;
    }
    void set_losses(std::size_t place,
                    const py::object& train,
                    const py::object& test,
                    Eigen::Index test_records) {
        const RoundGate::Stay stay = gate_.enter();
        HandedObjective& objective = *objectives_.at(place);
        objective.functions().train_losses = asked_losses(train);
        objective.functions().test_losses = asked_losses(test);
        objective.set_test_records(test_records);
    }
    /// Adds a statement to the ledger; several agents may say different things.
    void declare(const std::string& statement) {
        const RoundGate::Stay stay = gate_.enter();
        if (statement.size() > most_line_bytes)
            throw ConfigError(fmt::format("declare: {} bytes are not allowed (at most {})",
                                          statement.size(),
                                          most_line_bytes));
        const bool several = objectives_.size() > 1;
        const bool known =
            several ? statement_.find(statement) != std::string::npos : statement == statement_;
        if (stated_ && !known)
            throw ConfigError(
                "declare: rounds have begun, and the ledger states how gradients are found (make "
                "it before the first step)");
        if (!several)
            statement_ = statement;
        else if (!known)
            statement_ += (statement_.empty() ? "" : " ") + statement;
    }
    /// Asks for a stop of all agents, which they agree on in the rounds that follow. A single
    /// process stops at once.
    void stop() {
        const RoundGate::Stay stay = gate_.enter();
        stop_wanted_ = true;
        if (network_->processes() == 1) stop_here();
    }
    /// Makes this round the last one; all processes call it after the same round.
    void stop_here() {
        if (training_->to_survey())
            throw ConfigError(
                "stop: norms of gradients are not measured yet, and no round is done (step() "
                "first)");
        training_->stop_here();
    }
    void end_all(const std::string& message, int code) {
        if (gate_.in_its_process() && network_->processes() > 1 && summary_.empty())
            end_job(*network_, static_cast<ExitCode>(code), message.c_str());
    }

    [[nodiscard]] bool more() const { return summary_.empty() && !failed_ && training_->more(); }
    [[nodiscard]] py::array_t<std::int64_t> batch(std::size_t place) {
        const RoundGate::Stay stay = gate_.enter();
        require_under_way();
        return array_of(rows(place));
    }
    [[nodiscard]] const TrainConfig& config() const { return training_->run().prepared.run.config; }
    [[nodiscard]] Training& training() { return *training_; }
    [[nodiscard]] Network& network() { return *network_; }
    [[nodiscard]] long round() const { return training_->run().progress.rounds; }
    [[nodiscard]] const LocalAgent& local(std::size_t place) {
        return training_->to_survey() ? training_->run().prepared.agents.at(place)
                                      : training_->trainer().agents().at(place);
    }
    /// C; not a number before it is chosen.
    [[nodiscard]] double clip_norm() const {
        return config().plan.open.clip_norm ? not_a_number : config().plan.clip_norm;
    }
    /// The current model, d; the first one before the surveys.
    [[nodiscard]] std::span<const double> model(std::size_t place) {
        if (training_->to_survey()) {
            const Eigen::VectorXd& initial = training_->run().prepared.initial;
            return {initial.data(), static_cast<std::size_t>(initial.size())};
        }
        const Eigen::MatrixXd& models = training_->trainer().estimates();
        const auto own = models.col(static_cast<Eigen::Index>(place));
        return {own.data(), static_cast<std::size_t>(own.size())};
    }
    [[nodiscard]] std::string ledger() const {
        return to_json(training_->run().prepared.ledger, status(), round());
    }
    [[nodiscard]] double epsilon() const {
        return training_->run().prepared.ledger.epsilon_after(round());
    }

  private:
    [[nodiscard]] Ledger::Status status() const {
        if (failed_) return Ledger::Status::failed;
        if (summary_.empty()) return Ledger::Status::running;
        return interrupted_ ? Ledger::Status::interrupted : Ledger::Status::completed;
    }
    LocalTask make_task(Inputs inputs) {
        HandedInputs handed{{},
                            std::move(inputs.initial),
                            std::move(inputs.description),
                            std::move(inputs.data),
                            std::move(inputs.person)};
        network_->agree([&] {
            for (const Eigen::Index records : inputs.records) {
                auto objective =
                    std::make_unique<HandedObjective>(inputs.dimension, records, inputs.most_rows);
                objectives_.push_back(objective.get());
                handed.objectives.push_back(std::move(objective));
            }
        });
        return make_handed_task(std::move(handed), setup_.config.task, *network_);
    }
    /// Before anything that depends on gradients is sent. COLLECTIVE.
    void state_gradients() {
        if (!stated_) {
            const bool also = clipped_ && !statement_.empty();
            training_->state_gradients(fmt::format(
                "{}{}{}", statement_, also ? " " : "", clipped_ ? clipped_by_program : ""));
        }
        stated_ = true;
    }
    /// Runs rounds with the functions that were set, then forgets these.
    void compute(const std::function<void()>& rounds) {
        try {
            together(*network_, rounds);
        } catch (...) {
            failed_ = true;
            forget_gradients();
            throw;
        }
        forget_gradients();
    }
    std::span<const Eigen::Index> rows(std::size_t place) {
        if (training_->to_survey())
            throw ConfigError(
                "batch: call agent.tune(function) first, or give step() a function (tune='auto')");
        return training_->trainer().agents().at(place).batches.rows(
            static_cast<std::uint64_t>(round() * setup_.config.plan.local_steps));
    }
    void require_under_way() const {
        if (!more())
            throw ConfigError(failed_ ? "step: the training has failed"
                                      : "step: no round is left (call finish())");
    }
    /// @throws ConfigError for another way than the ledger states.
    void require_way(bool clipped, bool records) {
        if (clipped && !records)
            throw ConfigError(
                "clipped: True is not allowed where all records of an agent are protected "
                "(adjacency agent: give the gradient of the batch, which is clipped here)");
        if (stated_ && clipped != clipped_)
            throw ConfigError(
                fmt::format("clipped: {} is not allowed after {}: the ledger states who clips",
                            clipped ? "True" : "False",
                            clipped ? "False" : "True"));
        clipped_ = clipped;
    }
    void set_sums(std::size_t place, const py::object& given, py::handle self) {
        HandedFunctions& functions = objectives_.at(place)->functions();
        functions.most_summed_rows = most_summed_rows_;
        if (PyCallable_Check(given.ptr()) != 0) {
            functions.clipped_sum = AskedSums(py::reinterpret_borrow<py::function>(given), self);
            return;
        }
        if (setup_.config.pad_rounds)
            throw ConfigError(
                "gradients: with pad_rounds a function computes the sum, also of rows that pad");
        const KeptSum sum(given);
        functions.most_summed_rows = std::max<Eigen::Index>(1, std::ssize(rows(place)));
        functions.clipped_sum = [sum](const auto&, auto, double) { return sum.view(); };
    }
    void set_gradients(const std::vector<py::object>& given, bool clipped, py::handle self) {
        const bool records = !protects_agents(setup_.config.plan.adjacency);
        if (given.size() != objectives_.size())
            throw ConfigError(fmt::format("gradients: those of {} agents are not allowed ({})",
                                          given.size(),
                                          objectives_.size()));
        require_way(clipped, records);
        for (std::size_t place = 0; place < given.size(); ++place)
            if (clipped)
                set_sums(place, given[place], self);
            else
                set_gradients(place, given[place], records, self);
    }
    void set_gradients(std::size_t place, const py::object& given, bool records, py::handle self) {
        HandedFunctions& functions = objectives_.at(place)->functions();
        auto& wanted = records ? functions.record_gradients : functions.batch_gradient;
        if (PyCallable_Check(given.ptr()) != 0) {
            wanted = AskedGradients(py::reinterpret_borrow<py::function>(given), self);
            return;
        }
        if (setup_.config.plan.local_steps > 1)
            throw ConfigError(
                "gradients: with local_steps above 1 a function computes them, at other models "
                "too");
        const GivenGradients gradients(gradients_from(given));
        if (!records) {
            wanted = [gradients](const auto&, auto) { return gradients.whole(); };
            return;
        }
        if (setup_.config.pad_rounds)
            throw ConfigError(
                "gradients: with pad_rounds a function computes them, also those that pad");
        gradients.require_count(rows(place).size());
        wanted = gradients;
    }
    void forget_gradients() {
        for (HandedObjective* objective : objectives_) {
            objective->functions().record_gradients = {};
            objective->functions().batch_gradient = {};
            objective->functions().clipped_sum = {};
        }
    }

    RoundGate gate_{"agent"};
    std::optional<KeptSignals> signals_{std::in_place};
    std::unique_ptr<Network> network_;
    TrainSetup setup_;
    std::unique_ptr<Progress> progress_;
    std::vector<HandedObjective*> objectives_;  // owned by the training
    std::unique_ptr<Training> training_;
    std::string statement_;  // how gradients are found
    bool clipped_ = false;   // by the program
    Eigen::Index most_summed_rows_;
    bool stated_ = false;  // the statement is in the ledger
    std::string summary_;  // empty until the end
    bool failed_ = false, interrupted_ = false;
    bool stop_wanted_ = false;  // by the program
};

/// The sum of gradients (rows), each clipped as in a round, and norms before: NaN for a gradient
/// that is not finite, which counts as zero.
py::tuple clipped_sum(const py::object& given, double clip_norm) {
    const py::array array = gradients_from(given);
    return std::visit(
        [&](const auto& all) {
            const Eigen::Index count = std::max<Eigen::Index>(1, all.cols());
            const double grid = clip_norm * 0x1p-52 * static_cast<double>(count);
            require_clip_and_grid(clip_norm, grid, 0, count);
            Eigen::VectorXd sum(all.rows()), norms(all.cols());
            ClippedRecords records(clip_norm, grid, sum);
            records.add_columns(all, [](auto) {});
            records.finish();
            for (Eigen::Index k = 0; k < all.cols(); ++k)
                norms(k) = norm_or_nan(all.col(k).template cast<double>());
            return py::make_tuple(sum, norms);
        },
        gradients_in(array));
}

/// |found - f g| and f |g| and |g|, for a gradient g in parts and the factor f that clips it.
template <class Value>
py::tuple difference_of(const py::array& found, const std::vector<py::array>& parts, double clip) {
    using Values = Eigen::Map<const Eigen::VectorX<Value>>;
    constexpr Eigen::Index block = 4096;  // summed in the type of its values
    std::vector<Values> all;
    Eigen::Index size = 0;
    double squares = 0;
    for (const py::array& part : parts) {
        if (!py::isinstance<py::array_t<Value, py::array::c_style>>(part))
            throw ConfigError("gradient: its parts must be contiguous and of one type");
        const auto& added = all.emplace_back(static_cast<const Value*>(part.data()), part.size());
        size += part.size();
        squares += sum_of_squares(std::span(added.data(), static_cast<std::size_t>(added.size())));
    }
    if (found.size() != size)
        throw ConfigError(fmt::format("found: {} values are not allowed ({})", found.size(), size));
    const double norm = std::sqrt(squares);
    const double factor = !std::isfinite(norm) ? 0 : norm > clip ? clip / norm : 1;
    const auto* mine = static_cast<const Value*>(found.data());
    double difference = 0;
    for (const Values& part : all)
        for (Eigen::Index k = 0; k < part.size(); k += block) {
            const Eigen::Index count = std::min(block, part.size() - k);
            const Values own(mine + k, count);
            difference +=
                factor == 0
                    ? own.squaredNorm()
                    : (own - static_cast<Value>(factor) * part.segment(k, count)).squaredNorm();
            if (k + count == part.size()) mine += part.size();
        }
    return py::make_tuple(std::sqrt(difference), factor == 0 ? 0 : factor * norm, norm);
}

py::tuple clipped_difference(const py::array& found,
                             const std::vector<py::array>& parts,
                             double clip) {
    if (py::isinstance<py::array_t<float, py::array::c_style>>(found))
        return difference_of<float>(found, parts, clip);
    if (py::isinstance<py::array_t<double, py::array::c_style>>(found))
        return difference_of<double>(found, parts, clip);
    throw ConfigError("found: it must be a contiguous array of type float32 or float64");
}

Digest digest_from(const py::bytes& bytes) {
    const auto text = static_cast<std::string>(bytes);
    Digest digest{};
    if (text.size() != digest.size())
        throw ConfigError(
            fmt::format("data_digest: {} bytes are not allowed ({})", text.size(), digest.size()));
    std::copy(text.begin(), text.end(), digest.begin());
    return digest;
}

std::unique_ptr<Agents> make_agents(std::optional<int> communicator,
                                    const std::vector<std::string>& arguments,
                                    Eigen::Index dimension,
                                    std::vector<Eigen::Index> records,
                                    Eigen::Index most_rows,
                                    Eigen::Index most_summed_rows,
                                    const std::optional<Eigen::VectorXd>& initial,
                                    const std::string& description,
                                    const std::vector<py::bytes>& data_digests,
                                    const std::string& person) {
    Inputs inputs{.dimension = dimension,
                  .records = std::move(records),
                  .most_rows = most_rows,
                  .most_summed_rows = most_summed_rows,
                  .initial = initial.value_or(Eigen::VectorXd()),
                  .description = description,
                  .data = {},
                  .person = person};
    for (const py::bytes& digest : data_digests) inputs.data.push_back(digest_from(digest));
    return std::make_unique<Agents>(communicator, arguments, std::move(inputs));
}

}  // namespace

void bind_agent(py::module_& module) {
    module.def("clipped_sum", &clipped_sum, py::arg("gradients"), py::arg("clip_norm"));
    module.def("clipped_difference",
               &clipped_difference,
               py::arg("found"),
               py::arg("gradient"),
               py::arg("clip_norm"));
    py::class_<Agents>(module, "Agents")
        .def(py::init(&make_agents),
             py::arg("communicator"),
             py::arg("arguments"),
             py::arg("dimension"),
             py::arg("records"),
             py::arg("most_rows"),
             py::arg("most_summed_rows"),
             py::arg("initial"),
             py::arg("description"),
             py::arg("data_digests"),
             py::arg("person"))
        .def("batch", &Agents::batch, py::arg("place"))
        .def(
            "step",
            [](py::object self, const std::vector<py::object>& given, bool clipped) {
                return self.cast<Agents&>().step(given, clipped, self);
            },
            py::arg("gradients"),
            py::arg("clipped"))
        .def(
            "tune",
            [](py::object self, const std::vector<py::object>& gradients, bool clipped) {
                self.cast<Agents&>().tune(gradients, clipped, self);
            },
            py::arg("gradients"),
            py::arg("clipped"))
        .def("set_losses",
             &Agents::set_losses,
             py::arg("place"),
             py::arg("train"),
             py::arg("test"),
             py::arg("test_records"))
        .def("declare", &Agents::declare, py::arg("statement"))
        .def("finish", &Agents::finish)
        .def("stop", &Agents::stop)
        .def("stop_here", &Agents::stop_here)
        .def("end_all", &Agents::end_all, py::arg("message"), py::arg("exit_code"))
        .def(
            "model",
            [](py::object self, std::size_t place) {
                const auto model = self.cast<Agents&>().model(place);
                return view_of(model.data(), std::ssize(model), self);
            },
            py::arg("place"))
        .def(
            "number",
            [](Agents& a, std::size_t place) { return a.local(place).number; },
            py::arg("place"))
        .def_property_readonly("agents", [](Agents& a) { return a.network().agents(); })
        .def_property_readonly("processes", [](Agents& a) { return a.network().processes(); })
        .def_property_readonly("failed_together",
                               [](Agents& a) { return a.network().failed_together(); })
        .def_property_readonly("to_measure", [](Agents& a) { return a.training().to_survey(); })
        .def_property_readonly("round", &Agents::round)
        .def_property_readonly("rounds", [](Agents& a) { return a.config().plan.rounds; })
        .def_property_readonly("more", &Agents::more)
        .def(
            "batch_size",
            [](Agents& a, std::size_t place) { return a.local(place).batch_size; },
            py::arg("place"))
        .def_property_readonly("clip_norm", &Agents::clip_norm)
        .def_property_readonly("mechanism", [](Agents& a) { return a.config().plan.mechanism; })
        .def_property_readonly("adjacency",
                               [](Agents& a) { return name_of(a.config().plan.adjacency); })
        .def_property_readonly("epsilon", &Agents::epsilon)
        .def_property_readonly(
            "directory", [](Agents& a) { return a.training().run().directory.path().string(); })
        .def_property_readonly("ledger_json", &Agents::ledger)
        .def(
            "require_auditable",
            [](Agents& a, const std::string& view) {
                require_auditable(
                    a.config(), view, a.training().run().prepared.run.topography.graph);
            },
            py::arg("view"))
        .def_property_readonly("phases", [](Agents& a) {
            if (a.training().to_survey()) return py::dict();
            const RoundSeconds seconds = a.training().trainer().seconds();
            py::dict said;
            said["gradient"] = seconds.gradient;
            said["noise"] = seconds.noise;
            said["exchange"] = seconds.exchange;
            said["mix"] = seconds.mix;
            return said;
        });
}

}  // namespace sotto::python
