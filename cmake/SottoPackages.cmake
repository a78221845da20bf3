# Debian packages, one an install component (deploy/package builds them): `cpack -G DEB` in the build folder. After all
# install rules.

set(SOTTO_PACKAGE_CONTACT "sotto maintainers <maintainers@sotto.invalid>" CACHE STRING "Maintainer of the Debian packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sotto)
set(CPACK_PACKAGE_CONTACT "${SOTTO_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish_packages.cmake)
set(CPACK_SOTTO_SOURCE_DIR ${PROJECT_SOURCE_DIR})

set(CPACK_COMPONENTS_ALL program development)
get_cmake_property(sotto_components COMPONENTS)
if(python IN_LIST sotto_components)
    list(APPEND CPACK_COMPONENTS_ALL python)
endif()

# What an MPI job needs beside the library.
set(sotto_launcher openmpi-bin)
set(sotto_mpi_dev libopenmpi-dev)
if("${MPI_C_LIBRARIES}" MATCHES "mpich")
    set(sotto_launcher mpich)
    set(sotto_mpi_dev libmpich-dev)
endif()

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sotto)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# It starts mpirun (doctor, supervise), ssh (hosts asked whether they answer) and gnuplot (pictures).
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${sotto_launcher}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox, openssh-client")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "slurm-client, libsotto-dev")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "private peer-to-peer training over MPI
Every MPI rank is an agent that keeps its own data. Agents train one model
together by exchanging models with their neighbours in a graph, and add noise
that is correlated across agents and rounds, so that mixing cancels most of
it while every agent's messages stay private. What an observer learns is
accounted exactly, and an audit checks the accounting against the messages
that were really sent.

This package has the program, its manual pages and guides, completions for
bash, zsh and fish, and scripts for clusters.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsotto-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(sotto_headers_need libeigen3-dev libfmt-dev zlib1g-dev libtbb-dev libsodium-dev libhwy-dev pkg-config
    libboost-program-options-dev)
if(SOTTO_HAVE_LAPACK)
    list(APPEND sotto_headers_need libopenblas-dev liblapacke-dev)
endif()
if(OpenSSL_FOUND)
    list(APPEND sotto_headers_need libssl-dev)
endif()
list(JOIN sotto_headers_need ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "cmake, ${sotto_mpi_dev}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "private peer-to-peer training over MPI (development files)
Graphs, noise plans, privacy accounting and views of observers as C++20
libraries, for use without MPI or with it: headers, static libraries and a
CMake package for find_package(sotto).

Tasks and mechanisms of one's own for the program sotto are built with it.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-sotto)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy, python3-mpi4py, ${sotto_launcher}")
if("python" IN_LIST CPACK_COMPONENTS_ALL AND Python_EXECUTABLE)
    # The compiled part is for the interpreter that it was built with.
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.version_info.minor)"
        OUTPUT_VARIABLE sotto_python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    math(EXPR sotto_next_python "${sotto_python} + 1")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
        "python3 (>= 3.${sotto_python}), python3 (<< 3.${sotto_next_python}), python3-numpy, python3-mpi4py, ${sotto_launcher}")
endif()
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "private peer-to-peer training over MPI (Python module)
Graphs, noise plans, privacy accounting and trainings of sotto for Python,
agents whose gradients a Python program computes, under mpirun, and private
training of PyTorch models: import sotto.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-torch, python3-pandas, python3-matplotlib")

include(CPack)
