# libtorch, for the plugin sotto_torch.so (`sotto train --task FILE.pt`): target sotto::torch.
#   -DSOTTO_TORCH=AUTO|ON|OFF: where libtorch is found; required; never
# Without libtorch's own package file, which asks for CUDA's and Caffe2's.

set(SOTTO_TORCH AUTO CACHE STRING "Build the plugin for TorchScript models (AUTO: where libtorch is found)")
set_property(CACHE SOTTO_TORCH PROPERTY STRINGS AUTO ON OFF)
if(NOT SOTTO_TORCH MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "SOTTO_TORCH: '${SOTTO_TORCH}' is not one of: AUTO, ON, OFF")
endif()
set(SOTTO_HAVE_TORCH FALSE)
if(NOT SOTTO_TORCH STREQUAL "OFF")
    find_path(SOTTO_TORCH_INCLUDE torch/script.h)
    find_library(SOTTO_TORCH_LIBRARY torch_cpu)
    find_library(SOTTO_C10_LIBRARY c10)
    if(SOTTO_TORCH_INCLUDE AND SOTTO_TORCH_LIBRARY AND SOTTO_C10_LIBRARY)
        set(SOTTO_HAVE_TORCH TRUE)
        add_library(sotto_torch_libraries INTERFACE)
        add_library(sotto::torch ALIAS sotto_torch_libraries)
        target_include_directories(sotto_torch_libraries SYSTEM INTERFACE
            ${SOTTO_TORCH_INCLUDE} ${SOTTO_TORCH_INCLUDE}/torch/csrc/api/include)
        target_link_libraries(sotto_torch_libraries INTERFACE ${SOTTO_TORCH_LIBRARY} ${SOTTO_C10_LIBRARY})
    endif()
    if(SOTTO_TORCH STREQUAL "ON")
        sotto_require(SOTTO_HAVE_TORCH "libtorch (or -DSOTTO_TORCH=AUTO)" libtorch-dev)
    endif()
    sotto_optional(SOTTO_HAVE_TORCH "libtorch" "libtorch-dev" "TorchScript models as tasks (--task FILE.pt)")
endif()
