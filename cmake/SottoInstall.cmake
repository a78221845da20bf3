# Installation: program, headers, libraries, and a package for find_package(sotto). What needs MPI is
# an export set of its own, so that plans and accounting can be used on machines without MPI.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sotto_mpi_libraries net agent)
set(sotto_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

function(sotto_install_library name)
    set(set sottoTargets)
    if(name IN_LIST sotto_mpi_libraries)
        set(set sottoMpiTargets)
    endif()
    set_target_properties(sotto_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS sotto_${name} EXPORT ${set} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# sotto_install_package(): once, after all libraries.
function(sotto_install_package)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
    foreach(set sottoTargets sottoMpiTargets)
        install(EXPORT ${set} NAMESPACE sotto:: DESTINATION ${sotto_package_dir})
    endforeach()
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sottoConfig.cmake.in
        ${CMAKE_BINARY_DIR}/sottoConfig.cmake INSTALL_DESTINATION ${sotto_package_dir})
    # Before 1.0 a minor version may change what it likes.
    write_basic_package_version_file(${CMAKE_BINARY_DIR}/sottoConfigVersion.cmake
        COMPATIBILITY SameMinorVersion)
    install(FILES ${CMAKE_BINARY_DIR}/sottoConfig.cmake ${CMAKE_BINARY_DIR}/sottoConfigVersion.cmake
        DESTINATION ${sotto_package_dir})
endfunction()
