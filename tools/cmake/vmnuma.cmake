# SPDX-License-Identifier: Apache-2.0
# What every folder uses to declare its targets. One function a kind of target.

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
find_package(Boost 1.81 REQUIRED)
pkg_check_modules(LIBVIRT REQUIRED IMPORTED_TARGET libvirt)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
find_package(SQLiteCpp REQUIRED)
pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
find_library(NUMA_LIBRARY numa REQUIRED)

set(VMNUMA_PROPERTY_SEED 1 CACHE STRING "What the cases of property tests are generated from")
option(VMNUMA_WARNINGS_AS_ERRORS "Stop at the first warning" OFF)

# What every target of ours is compiled with. Third-party headers come in as SYSTEM.
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
            $<$<BOOL:${VMNUMA_WARNINGS_AS_ERRORS}>:-Werror>)

# vmnuma_library(NAME SOURCES a.cc ... [DEPENDS target ...])
function(vmnuma_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC vmnuma_build tl::expected ${ARG_DEPENDS})
endfunction()

# The pure part links the result type and other pure libraries, nothing else. A library declared with
# this cannot be given anything more, and the test `purity` reads the undefined symbols of its archive.
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
  set_property(GLOBAL APPEND PROPERTY VMNUMA_PURE_ARCHIVES $<TARGET_FILE:${name}>)
endfunction()

# vmnuma_program(NAME SOURCES main.cc ... [DEPENDS target ...] [DESTINATION dir])
function(vmnuma_program name)
  cmake_parse_arguments(ARG "" "DESTINATION" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE vmnuma_build ${ARG_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(ARG_DESTINATION)
    install(TARGETS ${name} RUNTIME DESTINATION ${ARG_DESTINATION})
  endif()
endfunction()

# vmnuma_test(NAME SOURCES a_test.cc ... [DEPENDS target ...] [LABEL label])
# Every GoogleTest case becomes a CTest case of its own, named <Suite>.<Claim>. With sanitizers, where starting a program
# takes longer than most cases, that is so only where cases take long themselves.
function(vmnuma_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE vmnuma_build ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE VMNUMA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             VMNUMA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # Optimising a test's own code costs a quarter of the build; what it calls is optimised. Where it works hard itself,
  # it pays.
  set(works_hard FALSE)
  if(ARG_LABEL MATCHES "^(property|sim|figures)$")
    set(works_hard TRUE)
  endif()
  if(NOT works_hard)
    target_compile_options(${name} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  # A run that fails must fail again: properties are tried on the same cases every time.
  set(properties TIMEOUT 300 ENVIRONMENT RC_PARAMS=seed=${VMNUMA_PROPERTY_SEED})
  if(ARG_LABEL)
    list(APPEND properties LABELS ${ARG_LABEL})
  endif()
  if(works_hard OR NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  else()
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} TIMEOUT 900)
  endif()
endfunction()
