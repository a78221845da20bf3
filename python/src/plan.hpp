#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// Graph and Plan: what `sotto graph` and `sotto plan` make, with its numbers.
void bind_plan(pybind11::module_& module);

}  // namespace sotto::python
