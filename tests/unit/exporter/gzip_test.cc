// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/gzip.h"

#include <cstdint>
#include <string>

#include <boost/beast/zlib/inflate_stream.hpp>
#include <gtest/gtest.h>

namespace vmnuma::tools {
namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t kHeader = 10;
constexpr std::size_t kTrailer = 8;

std::string unpacked(const std::string& packed, std::size_t size) {
  std::string text(size + 1, '?');
  zlib::inflate_stream inflate;
  zlib::z_params params;
  params.next_in = packed.data() + kHeader;
  params.avail_in = packed.size() - kHeader - kTrailer;
  params.next_out = text.data();
  params.avail_out = text.size();
  boost::system::error_code error;
  inflate.write(params, zlib::Flush::sync, error);
  EXPECT_EQ(error, zlib::error::end_of_stream);
  return text.substr(0, params.total_out);
}

TEST(GzipTest, WhatIsPackedIsUnpackedTheSame) {
  std::string large;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    large += "vmnuma_client_used_cpu_seconds_total " + std::to_string(i * i) + "\n";
  }
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("\0\xff", 2), large}) {
    EXPECT_EQ(unpacked(gzip(text), text.size()), text);
  }
  EXPECT_LT(gzip(large).size(), large.size() / 4);
}

TEST(GzipTest, EndsWithChecksumAndLength) {
  // CRC-32 of "123456789" is 0xcbf43926.
  const std::string packed = gzip("123456789");
  EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ(packed.substr(packed.size() - kTrailer),
            std::string("\x26\x39\xf4\xcb\x09\x00\x00\x00", kTrailer));
}

}  // namespace
}  // namespace vmnuma::tools
