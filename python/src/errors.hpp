#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// sotto::Error becomes the class of sotto/errors.py with its name, with exit_code.
void bind_errors(pybind11::module_& module);

}  // namespace sotto::python
