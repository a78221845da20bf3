#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// Graph and Plan: the results of `sotto graph` and `sotto plan`.
void bind_plan(pybind11::module_& module);

}  // namespace sotto::python
