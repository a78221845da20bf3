# cpack runs this on the files of each package before it packs them: what Debian wants beside them.
foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} upper)
    execute_process(
        COMMAND ${CPACK_SOTTO_SOURCE_DIR}/deploy/debian/finish ${CPACK_TEMPORARY_DIRECTORY}/${component}
            ${CPACK_DEBIAN_${upper}_PACKAGE_NAME} ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}
            "${CPACK_PACKAGE_CONTACT}"
        COMMAND_ERROR_IS_FATAL ANY)
endforeach()
