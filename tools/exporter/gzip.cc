// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/gzip.h"

#include <cstdint>

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>

#include "placement/base/result.h"

namespace vmnuma::tools {

namespace {

namespace zlib = boost::beast::zlib;

constexpr int kLevel = 3;
constexpr int kWindowBits = 15;
constexpr int kMemoryLevel = 8;
/// RFC 1952, section 2.3: magic, deflate, no flags, no time, no extra flags, system unknown.
constexpr std::string_view kHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);

/// Least significant byte first.
void append(std::string& out, std::uint32_t number) {
  for (int byte = 0; byte < 4; ++byte) {
    out += static_cast<char>(number >> (8 * byte) & 0xffU);
  }
}

}  // namespace

std::string gzip(std::string_view text) {
  zlib::deflate_stream deflate;
  deflate.reset(kLevel, kWindowBits, kMemoryLevel, zlib::Strategy::normal);
  std::string packed(deflate.upper_bound(text.size()), '\0');
  zlib::z_params params;
  params.next_in = text.data();
  params.avail_in = text.size();
  params.next_out = packed.data();
  params.avail_out = packed.size();
  boost::system::error_code error;
  deflate.write(params, zlib::Flush::finish, error);
  VMNUMA_CHECK(error == zlib::error::end_of_stream);  // the buffer is large enough
  packed.resize(params.total_out);
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  std::string out(kHeader);
  out += packed;
  append(out, crc.checksum());
  append(out, static_cast<std::uint32_t>(text.size()));
  return out;
}

}  // namespace vmnuma::tools
