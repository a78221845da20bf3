#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// Agent: one agent of a training, whose gradients a Python program computes.
void bind_agent(pybind11::module_& module);

}  // namespace sotto::python
