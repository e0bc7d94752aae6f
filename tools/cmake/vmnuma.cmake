# SPDX-License-Identifier: Apache-2.0
# Functions with which every folder declares its targets, one per kind of target.

include(CTest)
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED CONFIG)
pkg_check_modules(LIBVIRT REQUIRED IMPORTED_TARGET libvirt)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(CRYPT REQUIRED IMPORTED_TARGET libxcrypt)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-cpp)
find_package(OpenSSL REQUIRED COMPONENTS SSL)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
find_package(SQLiteCpp REQUIRED)
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
# Its _XOPEN_SOURCE is lower than what the compiler's own _GNU_SOURCE implies.
set_target_properties(PkgConfig::NCURSES PROPERTIES INTERFACE_COMPILE_OPTIONS "")
find_library(NUMA_LIBRARY numa REQUIRED)

set(VMNUMA_PROPERTY_SEED 1 CACHE STRING "What the cases of property tests are generated from")
option(VMNUMA_WARNINGS_AS_ERRORS "Stop at the first warning" OFF)
set(VMNUMA_TESTS "quick;hard;rare" CACHE STRING
    "Tests beside those that every build has: quick (unit, golden, fuzz corpus, most of integration), hard (what takes long),\
 rare (benchmarks, and what others collected)")

# Compile options of all our targets. Third-party headers are included as SYSTEM.
add_library(vmnuma_build INTERFACE)
target_include_directories(vmnuma_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(vmnuma_build INTERFACE VMNUMA_VERSION="${PROJECT_VERSION}")
target_compile_options(
  vmnuma_build
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            -Wsign-conversion
            -Wshadow
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Woverloaded-virtual
            -Wimplicit-fallthrough
            -Wno-missing-field-initializers
            # GCC's false alarms about std::optional, depending on what it inlines (its bug 80635).
            $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            $<$<BOOL:${VMNUMA_WARNINGS_AS_ERRORS}>:-Werror>)
# Let indirect jumps and calls reach only valid targets, if the processor can check that.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(vmnuma_build INTERFACE $<$<CONFIG:Release>:-fcf-protection>)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  target_compile_options(vmnuma_build INTERFACE $<$<CONFIG:Release>:-mbranch-protection=standard>)
endif()

# How tests are compiled in every build: optimising them takes longer than they run, and a fifth of the time to compile them
# would go into debug information, though GoogleTest names the line that fails.
set(VMNUMA_TEST_OPTIONS -O0 -g0 -U_FORTIFY_SOURCE CACHE STRING "Options for compiling tests, after those of the build type")

# Most of the time to compile a file is spent on headers of the standard library, fmt and GoogleTest. With
# VMNUMA_PRECOMPILED_HEADER on, they are read once. The release build does without, so that missing includes are noticed;
# with GCC they would save only half a second per file and cause false warnings (-Warray-bounds, -Wrestrict).
option(VMNUMA_PRECOMPILED_HEADER "Read the headers that nearly every file includes once" OFF)
set(common_headers <algorithm> <array> <chrono> <cstdint> <deque> <filesystem> <functional> <map> <memory> <optional> <set>
                   <span> <string> <string_view> <thread> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>
                   <tl/expected.hpp>)
if(VMNUMA_PRECOMPILED_HEADER)
  # Without the timestamp, so that ccache recognizes files compiled with an identical header.
  target_compile_options(vmnuma_build INTERFACE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")
  add_library(vmnuma_source_headers STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(vmnuma_source_headers PRIVATE vmnuma_build nlohmann_json::nlohmann_json tl::expected)
  target_precompile_headers(vmnuma_source_headers PRIVATE ${common_headers})
  if(BUILD_TESTING)
    find_package(GTest REQUIRED)
    add_library(vmnuma_test_headers STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cc)
    target_link_libraries(vmnuma_test_headers PRIVATE vmnuma_build GTest::gmock nlohmann_json::nlohmann_json tl::expected)
    target_precompile_headers(vmnuma_test_headers PRIVATE ${common_headers} <fstream> <sstream> <gmock/gmock.h>
                              <gtest/gtest.h>)
    target_compile_options(vmnuma_test_headers PRIVATE ${VMNUMA_TEST_OPTIONS})
  endif()
endif()

function(vmnuma_reuse_headers target from)
  if(VMNUMA_PRECOMPILED_HEADER)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

# Compile options of programs that are tests and hardly ever run in a loop.
function(vmnuma_compile_as_test target)
  target_compile_options(${target} PRIVATE ${VMNUMA_TEST_OPTIONS})
  vmnuma_reuse_headers(${target} vmnuma_test_headers)
endfunction()

# vmnuma_library(NAME SOURCES a.cc ... [DEPENDS target ...])
function(vmnuma_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC vmnuma_build tl::expected ${ARG_DEPENDS})
  vmnuma_reuse_headers(${name} vmnuma_source_headers)
endfunction()

# The pure part links the result type and other pure libraries, nothing else. A library declared with
# this cannot link anything more, and the test `purity` reads the undefined symbols of its archive.
function(vmnuma_pure_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  foreach(dependency IN LISTS ARG_DEPENDS)
    get_target_property(pure ${dependency} VMNUMA_PURE)
    if(NOT pure)
      message(FATAL_ERROR "'${name}' is pure and may not link '${dependency}', which is not")
    endif()
  endforeach()
  vmnuma_library(${name} SOURCES ${ARG_SOURCES} DEPENDS ${ARG_DEPENDS})
  set_target_properties(${name} PROPERTIES VMNUMA_PURE TRUE)
  # Everything else waits for the kernel, libvirt and the disk, and takes a fifth longer to compile with -O2 than with -O1.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  set_property(GLOBAL APPEND PROPERTY VMNUMA_PURE_ARCHIVES $<TARGET_FILE:${name}>)
endfunction()

# vmnuma_program(NAME SOURCES main.cc ... [DEPENDS target ...] [DESTINATION dir])
function(vmnuma_program name)
  cmake_parse_arguments(ARG "" "DESTINATION" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE vmnuma_build ${ARG_DEPENDS})
  vmnuma_reuse_headers(${name} vmnuma_source_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(ARG_DESTINATION)
    install(TARGETS ${name} RUNTIME DESTINATION ${ARG_DESTINATION})
  endif()
endfunction()

# vmnuma_test(NAME SOURCES a_test.cc ... [DEPENDS target ...] [LABEL label] [NOT_SANITIZED pattern ...])
# Every GoogleTest case becomes a CTest case of its own, named <Suite>.<Claim>. With sanitizers, where starting a program
# takes longer than most cases, the program is one CTest case, or several if it works hard; cases of the patterns are left out.
function(vmnuma_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS;NOT_SANITIZED" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE vmnuma_build ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE VMNUMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             VMNUMA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set(works_hard FALSE)
  if(ARG_LABEL MATCHES "^(property|sim|figures)$")
    set(works_hard TRUE)
  endif()
  if(ARG_LABEL STREQUAL "property")
    vmnuma_reuse_headers(${name} vmnuma_source_headers)
  else()
    vmnuma_compile_as_test(${name})
  endif()
  # Failures must be reproducible: properties are tried on the same cases every time.
  set(environment RC_PARAMS=seed=${VMNUMA_PROPERTY_SEED})
  set(properties TIMEOUT 300 ENVIRONMENT ${environment})
  if(ARG_LABEL)
    list(APPEND properties LABELS ${ARG_LABEL})
  endif()
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=" OR ARG_LABEL MATCHES "^(property|figures)$")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  else()
    set(parts 1)
    if(works_hard)
      set(parts 6)
    endif()
    list(JOIN ARG_NOT_SANITIZED ":" left_out)
    math(EXPR last "${parts} - 1")
    foreach(part RANGE ${last})
      set(case ${name})
      if(parts GREATER 1)
        math(EXPR number "${part} + 1")
        string(APPEND case ".${number}_of_${parts}")
      endif()
      add_test(NAME ${case} COMMAND ${name} --gtest_filter=*-${left_out})
      # Start long ones before single cases, so that none of them is left running alone at the end.
      set_tests_properties(${case} PROPERTIES ${properties} TIMEOUT 900 COST 100)
      set_property(TEST ${case} APPEND PROPERTY ENVIRONMENT GTEST_TOTAL_SHARDS=${parts} GTEST_SHARD_INDEX=${part})
    endforeach()
  endif()
  if(NOT works_hard AND NOT ARG_LABEL STREQUAL "integration")
    vmnuma_check(${name} DEPENDS ${ARG_DEPENDS} ENVIRONMENT ${environment})
  endif()
endfunction()

# The targets of tools/check: the target `check-FOLDER` runs the quick tests that name a library of FOLDER, `check` runs all.
# A test that has passed runs again when its program, or a file that tests read, is newer.
file(GLOB_RECURSE test_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/golden/* ${PROJECT_SOURCE_DIR}/tests/fixtures/*)
add_custom_target(check)
function(vmnuma_check name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;ENVIRONMENT" ${ARGN})
  set(passed ${CMAKE_CURRENT_BINARY_DIR}/${name}.passed)
  add_custom_command(
    OUTPUT ${passed}
    COMMAND ${CMAKE_COMMAND} -E env ${ARG_ENVIRONMENT} $<TARGET_FILE:${name}> --gtest_brief=1
    COMMAND ${CMAKE_COMMAND} -E touch ${passed}
    DEPENDS ${name} ${test_files}
    COMMENT "Testing with ${name}")
  add_custom_target(check.${name} DEPENDS ${passed})
  add_dependencies(check check.${name})
  foreach(library IN LISTS ARG_DEPENDS)
    if(TARGET ${library})
      get_target_property(imported ${library} IMPORTED)
      if(NOT imported)
        get_target_property(folder ${library} SOURCE_DIR)
        file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
        string(REPLACE "/" "-" folder ${folder})
        if(NOT TARGET check-${folder})
          add_custom_target(check-${folder})
        endif()
        add_dependencies(check-${folder} check.${name})
      endif()
    endif()
  endforeach()
endfunction()
