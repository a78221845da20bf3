#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// options(command), run(command, arguments), version, defaults: the program's own commands.
void bind_commands(pybind11::module_& module);

}  // namespace sotto::python
