#include "commands.hpp"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "commands/cli/command.hpp"
#include "net/mpi_session.hpp"
#include "signals.hpp"
#include "sotto/core/build_info.hpp"
#include "sotto/core/error.hpp"
#include "training/job.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

const char* kind_name(OptionKind kind) {
    switch (kind) {
        case OptionKind::flag:
            return "flag";
        case OptionKind::output:
            return "output";
        case OptionKind::list:
            return "list";
        default:
            return "value";
    }
}

/// The declaration of an option as a dict.
py::dict described(const std::string& group, const WrittenOption& option) {
    py::dict facts;
    facts["name"] = option.name;
    facts["group"] = group;
    facts["help"] = option.help;
    facts["details"] = option.details;
    facts["kind"] = kind_name(option.kind);
    facts["allowed"] = option.allowed.text;
    facts["positional"] = option.positional;
    facts["default"] = option.text;
    facts["describes_data"] = option.describes_data;
    return facts;
}

std::vector<py::dict> options_of(const std::string& command) {
    std::vector<py::dict> all;
    for (const WrittenGroup& group : cli::commands().find("command", command).options())
        for (const WrittenOption& option : group.options)
            all.push_back(described(group.title, option));
    return all;
}

std::vector<std::string> command_names() { return cli::commands().names(); }

/// Runs a command as the program does. @return its exit code.
int run(const std::string& command, const std::vector<std::string>& arguments) {
    const cli::Command& found = cli::commands().find("command", command);
    const KeptSignals signals;
    const py::gil_scoped_release others_may_run;
    return found.run(arguments);
}

}  // namespace

void bind_commands(py::module_& module) {
    module.attr("__version__") = build_version();
    module.def(
        "launched",
        [] { return launch_environment().launched; },
        "Whether a launcher of MPI started this process.");
    module.def("command_names", command_names, "Names of the program's commands.");
    module.def("options",
               options_of,
               py::arg("command"),
               "Options of a command: one dict each, as its declaration in the program says.");
    module.def(
        "run",
        run,
        py::arg("command"),
        py::arg("arguments"),
        "Runs a command of the program with these words. Returns its exit code; raises Error "
        "in a process that is alone.");
}

}  // namespace sotto::python
