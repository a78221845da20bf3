# Compiler settings shared by every target, and the function that makes a folder's library.

set(shadow -Wshadow)
if(CMAKE_UNITY_BUILD)
    # A local name may also be one that another source of the unit keeps to itself; only GCC can say "local".
    set(shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()

# The libraries also become parts of shared ones: the Python module, tasks of one's own.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(sotto_flags INTERFACE)
target_compile_features(sotto_flags INTERFACE cxx_std_20)
target_compile_options(sotto_flags INTERFACE
    -Wall -Wextra -Wpedantic ${shadow} -Wconversion
    # GCC 12 sees overlaps and overflows in std::string concatenation that cannot happen (bugs 105651 and 105329); of
    # precompiled headers it does not know that they are the system's.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
    # Shared noise must have the same bits on every machine: never fuse a multiplication and an addition.
    -ffp-contract=off
    # No code reads errno or floating-point flags of mathematical functions; SIMD needs to know.
    -fno-math-errno -fno-trapping-math
    # Nobody replaces a function of ours by another of its name: calls may be inlined as in a program.
    $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
if(SOTTO_WERROR)
    target_compile_options(sotto_flags INTERFACE -Werror)
endif()
if(SOTTO_SANITIZE)
    target_compile_options(sotto_flags INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
        -fno-sanitize-recover=undefined)
    target_link_options(sotto_flags INTERFACE -fsanitize=address,undefined)
endif()

if(SOTTO_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "SOTTO_FUZZ needs clang: CC=clang CXX=clang++ (Debian packages clang-14 and libclang-rt-14-dev)")
    endif()
    # Casts of numbers that do not fit are undefined too, but not part of "undefined".
    set(sanitizers address,undefined,float-cast-overflow)
    target_compile_options(sotto_flags INTERFACE -O1 -g -fsanitize=fuzzer-no-link,${sanitizers}
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(sotto_flags INTERFACE -fsanitize=${sanitizers})
endif()

find_program(SOTTO_CCACHE ccache)
if(SOTTO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # ccache takes precompiled headers only where it is told that their macros need not be compared.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SOTTO_CCACHE})
    target_compile_options(sotto_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# What most sources include, compiled once for all targets of the same options.
set(SOTTO_PRECOMPILED <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <utility> <vector> <Eigen/Dense> <fmt/format.h>)

# sotto_library(ROOM [INTERNAL] DEPENDS ... PRIVATE_DEPENDS ...): static library sotto_ROOM, alias sotto::ROOM, of all
# sources below ROOM, but those of programs; installed unless it is INTERNAL: part of the program only.
function(sotto_library room)
    cmake_parse_arguments(ARG "INTERNAL" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/(main|write_option_pages|write_picture)\\.cpp$")
    # Users of an installed library need not have headers that only its own sources include.
    list(APPEND ARG_PRIVATE_DEPENDS fmt::fmt nlohmann_json::nlohmann_json Boost::headers)
    list(TRANSFORM ARG_PRIVATE_DEPENDS REPLACE "^.+$" "$<BUILD_INTERFACE:\\0>"
        REGEX "^(Boost::headers|nlohmann_json::nlohmann_json|Spectra::Spectra)$")
    set_property(GLOBAL APPEND PROPERTY SOTTO_ROOMS ${room})
    add_library(sotto_${room} STATIC ${sources})
    add_library(sotto::${room} ALIAS sotto_${room})
    target_include_directories(sotto_${room} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(sotto_${room} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
    target_link_libraries(sotto_${room}
        PUBLIC ${ARG_DEPENDS}
        PRIVATE $<BUILD_INTERFACE:sotto_flags> ${ARG_PRIVATE_DEPENDS})
    target_compile_features(sotto_${room} PUBLIC cxx_std_20)
    target_precompile_headers(sotto_${room} REUSE_FROM sotto_precompiled)
    if(NOT ARG_INTERNAL)
        sotto_install_library(${room})
    endif()
endfunction()
