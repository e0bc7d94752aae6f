# SPDX-License-Identifier: Apache-2.0
# Turns the files of page/ into page_files.cc. Used by the build only:
# cmake -D FROM=DIR -D OUTPUT=FILE -P embed.cmake
set(entries "")
file(GLOB files RELATIVE ${FROM} ${FROM}/*)
foreach(file IN LISTS files)
  file(READ ${FROM}/${file} text)
  string(FIND "${text}" ")vmnuma\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "'${file}' contains what ends the literal it is put into")
  endif()
  get_filename_component(suffix ${file} EXT)
  if(suffix STREQUAL ".html")
    set(type "text/html; charset=utf-8")
  elseif(suffix STREQUAL ".css")
    set(type "text/css; charset=utf-8")
  elseif(suffix STREQUAL ".js")
    set(type "text/javascript; charset=utf-8")
  else()
    set(type "image/svg+xml")
  endif()
  set(path "/${file}")
  if(file STREQUAL "index.html")
    set(path "/")
  endif()
  string(APPEND entries "    PageFile{\"${path}\", \"${type}\", R\"vmnuma(${text})vmnuma\"},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "// SPDX-License-Identifier: Apache-2.0\n"
  "// Made by embed.cmake.\n"
  "#include \"tools/exporter/page_files.h\"\n\n"
  "#include <array>\n\n"
  "namespace vmnuma::tools {\n\n"
  "namespace {\n\n"
  "constexpr std::array kFiles{\n"
  "${entries}"
  "};\n\n"
  "}  // namespace\n\n"
  "std::span<const PageFile> page_files() {\n"
  "  return kFiles;\n"
  "}\n\n"
  "}  // namespace vmnuma::tools\n")
