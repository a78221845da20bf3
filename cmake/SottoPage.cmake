# The page of `sotto report`: its own files and the libraries that draw it are built into the program,
# so that a report needs no network. Without the libraries `sotto report` says what to install.

find_file(SOTTO_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
find_file(SOTTO_D3_JS d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH)
sotto_optional(SOTTO_CHART_JS "Chart.js" "libjs-chart.js" "sotto report")
sotto_optional(SOTTO_D3_JS "d3" "node-d3" "sotto report")

# sotto_embed_page(TARGET FOLDER): adds the files of FOLDER and the libraries found to the target.
function(sotto_embed_page target folder)
    set(names report.html statement.html report.css data.js figures.js live.js graph.js charts.js words.js main.js)
    list(TRANSFORM names PREPEND ${folder}/ OUTPUT_VARIABLE paths)
    foreach(library chart d3)
        string(TOUPPER SOTTO_${library}_JS found)
        if(${found})
            list(APPEND names ${library}.js)
            list(APPEND paths ${${found}})
        endif()
    endforeach()
    set(SOTTO_EMBEDDED_FILES "")
    set(SOTTO_EMBEDDED_NAMES "")
    foreach(name path IN ZIP_LISTS names paths)
        string(MAKE_C_IDENTIFIER ${name} symbol)
        string(APPEND SOTTO_EMBEDDED_FILES "SOTTO_EMBED(${symbol}, \"${path}\")\n")
        string(APPEND SOTTO_EMBEDDED_NAMES
            "    if (name == \"${name}\")\n"
            "        return between(sotto_page_${symbol}, sotto_page_${symbol}_end);\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded.cpp)
    configure_file(${folder}/embedded.cpp.in ${source} @ONLY)
    set_source_files_properties(${source} PROPERTIES
        OBJECT_DEPENDS "${paths}"
        INCLUDE_DIRECTORIES ${folder}
        COMPILE_OPTIONS "-Wno-pedantic")
    target_sources(${target} PRIVATE ${source})
endfunction()
