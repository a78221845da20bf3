# MPI's C interface, called from C++ without C++ bindings, and the launcher that belongs to it.
#   -DMPI_C_COMPILER=WRAPPER or -DMPI_CXX_COMPILER=WRAPPER: an MPI other than the default one, mpicc.mpich for example
#   -DMPIEXEC_EXECUTABLE=PROGRAM: its launcher; by itself mpiexec beside the wrapper, with the wrapper's ending

foreach(variable MPI_C_COMPILER MPI_CXX_COMPILER)
    if(${variable})
        find_program(sotto_wrapper NAMES ${${variable}} NO_CACHE)
        if(NOT sotto_wrapper)
            message(FATAL_ERROR "${variable}: '${${variable}}' is no program; it is a compiler wrapper of MPI, mpicc.mpich for example")
        endif()
        set(${variable} "${sotto_wrapper}" CACHE FILEPATH "MPI's compiler wrapper" FORCE)
        unset(sotto_wrapper)
    endif()
endforeach()
# FindMPI asks a wrapper for C++ only where a project wants the bindings.
if(MPI_CXX_COMPILER AND NOT MPI_C_COMPILER)
    set(MPI_C_COMPILER "${MPI_CXX_COMPILER}" CACHE FILEPATH "MPI's compiler wrapper")
endif()
# FindMPI keeps headers and libraries of the first wrapper when another one is named.
set(sotto_wrappers "${MPI_C_COMPILER}" "${MPI_CXX_COMPILER}")
if(DEFINED SOTTO_MPI_WRAPPERS AND NOT sotto_wrappers STREQUAL SOTTO_MPI_WRAPPERS)
    message(FATAL_ERROR "MPI_C_COMPILER, MPI_CXX_COMPILER: '${sotto_wrappers}', but this build folder began with '${SOTTO_MPI_WRAPPERS}': another MPI needs a build folder of its own")
endif()
# FindMPI takes the first mpiexec in PATH, whatever the wrapper.
if(MPI_C_COMPILER AND NOT MPIEXEC_EXECUTABLE)
    get_filename_component(sotto_folder "${MPI_C_COMPILER}" DIRECTORY)
    get_filename_component(sotto_ending "${MPI_C_COMPILER}" EXT)
    find_program(MPIEXEC_EXECUTABLE NAMES mpiexec${sotto_ending} PATHS "${sotto_folder}" NO_DEFAULT_PATH)
endif()

find_package(MPI QUIET COMPONENTS C)
sotto_require(MPI_C_FOUND "MPI" "libopenmpi-dev and openmpi-bin")
set(SOTTO_MPI_WRAPPERS "${MPI_C_COMPILER}" "${MPI_CXX_COMPILER}" CACHE INTERNAL "Wrappers asked for MPI")
message(STATUS "MPI: ${MPI_C_COMPILER}, started by ${MPIEXEC_EXECUTABLE}")
