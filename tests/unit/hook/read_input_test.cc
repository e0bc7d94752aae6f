// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/read_input.h"

#include <array>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace vmnuma::tools {
namespace {

using std::chrono::steady_clock;

class ReadInputTest : public testing::Test {
 protected:
  ReadInputTest() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~ReadInputTest() override {
    (void)::close(ends_[0]);
    hang_up();
  }
  void hang_up() {
    if (ends_[1] >= 0) {
      (void)::close(std::exchange(ends_[1], -1));
    }
  }
  Result<std::string> read(std::size_t most, std::chrono::milliseconds limit) {
    return read_input(ends_[0], most, steady_clock::now() + limit);
  }

  std::array<int, 2> ends_{};
};

TEST_F(ReadInputTest, ReadsToTheEnd) {
  const std::string sent(200'000, 'x');  // more than a pipe holds
  std::thread writer([&] {
    std::size_t done = 0;
    while (done < sent.size()) {
      const ssize_t wrote = ::write(ends_[1], sent.data() + done, sent.size() - done);
      ASSERT_GT(wrote, 0);
      done += static_cast<std::size_t>(wrote);
    }
    hang_up();
  });
  const auto text = read(1'000'000, std::chrono::minutes(1));
  writer.join();
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, sent);
}

TEST_F(ReadInputTest, NothingIsAnEmptyText) {
  hang_up();
  EXPECT_EQ(read(10, std::chrono::minutes(1)).value_or("?"), "");
}

TEST_F(ReadInputTest, GivesUpOnASenderThatStops) {
  ASSERT_EQ(::write(ends_[1], "<domain", 7), 7);
  const auto text = read(10, std::chrono::milliseconds(1));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kUnavailable);
}

TEST_F(ReadInputTest, RefusesTooMuch) {
  ASSERT_EQ(::write(ends_[1], "0123456789", 10), 10);
  hang_up();
  const auto text = read(9, std::chrono::minutes(1));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ReadInputTest, AClosedDescriptorIsAnError) {
  const auto text = read_input(-1, 10, steady_clock::now() + std::chrono::milliseconds(1));
  EXPECT_FALSE(text);
}

}  // namespace
}  // namespace vmnuma::tools
