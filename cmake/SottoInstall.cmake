# Installation: program, and headers, libraries and a package for find_package(sotto), for plans, accounting and tasks of
# one's own; none of them needs MPI. Components: program, development, and python where it is built (cmake/SottoPackages.cmake).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sotto_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

function(sotto_install_library name)
    set_target_properties(sotto_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS sotto_${name} EXPORT sottoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endfunction()

# sotto_install_package(): once, after all libraries.
function(sotto_install_package)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp")
    install(EXPORT sottoTargets NAMESPACE sotto:: DESTINATION ${sotto_package_dir} COMPONENT development)
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sottoConfig.cmake.in
        ${CMAKE_BINARY_DIR}/sottoConfig.cmake INSTALL_DESTINATION ${sotto_package_dir})
    # Before 1.0 a minor version may change what it likes.
    write_basic_package_version_file(${CMAKE_BINARY_DIR}/sottoConfigVersion.cmake
        COMPATIBILITY SameMinorVersion)
    install(FILES ${CMAKE_BINARY_DIR}/sottoConfig.cmake ${CMAKE_BINARY_DIR}/sottoConfigVersion.cmake
        DESTINATION ${sotto_package_dir} COMPONENT development)
endfunction()

# sotto_install_pages(PROGRAM WRITER): manual pages and completions that WRITER makes of the options' declarations, made
# whenever PROGRAM is; guides and scripts.
function(sotto_install_pages program writer)
    set(made ${CMAKE_BINARY_DIR}/pages)
    add_custom_command(OUTPUT ${made}/man1/sotto.1
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${made}
        COMMAND ${writer} --installed ${made}
        DEPENDS ${writer} COMMENT "Manual pages and completions" VERBATIM)
    add_custom_target(${program}_pages ALL DEPENDS ${made}/man1/sotto.1)
    add_dependencies(${program} ${program}_pages)
    set(to COMPONENT program DESTINATION)
    install(DIRECTORY ${made}/man1 ${to} ${CMAKE_INSTALL_MANDIR})
    install(FILES ${made}/bash/sotto ${to} ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${made}/zsh/_sotto ${to} ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${made}/fish/sotto.fish ${to} ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${to} ${CMAKE_INSTALL_DOCDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${to} ${CMAKE_INSTALL_DOCDIR})
    install(FILES ${PROJECT_SOURCE_DIR}/mpi_hosts.example ${to} ${CMAKE_INSTALL_DOCDIR}/examples)
    set(scripts ${PROJECT_SOURCE_DIR}/deploy)
    install(PROGRAMS ${scripts}/mpirun ${scripts}/slurm ${scripts}/fetch-data ${to} ${CMAKE_INSTALL_DATADIR}/sotto/deploy)
    install(FILES ${scripts}/environment ${to} ${CMAKE_INSTALL_DATADIR}/sotto/deploy)
endfunction()
