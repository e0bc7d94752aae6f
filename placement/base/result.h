// SPDX-License-Identifier: Apache-2.0
/// The result type of the whole project.
///
/// Problem: almost everything a host daemon touches can fail for external reasons, and a message is
/// only useful if it names the object, the cause and what happens now. Approach: functions that can
/// fail return `Result<T>`. `Error` carries a kind for the code that decides, the errno for the
/// record, and a message to which callers add context on the way up. Nothing throws across a
/// folder's border. Our own broken invariants abort through VMNUMA_CHECK; no external input may
/// reach one.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "placement/base/names.h"

namespace vmnuma {

/// The kind of failure, for code that has to decide what to do next.
enum class ErrorCode {
  kInvalidArgument,   ///< the caller's or the administrator's input is wrong
  kNotFound,          ///< the object does not exist
  kVanished,          ///< the object existed and went away: a VM that ended, a thread that exited
  kPermissionDenied,  ///< the kernel or libvirt refused us
  kUnavailable,       ///< a service does not answer or the connection is gone
  kBusy,              ///< try again later
  kNoSpace,           ///< no room: disk full, node without free memory
  kUnsupported,       ///< this host, kernel or domain cannot do it
  kCorrupt,           ///< data that cannot be trusted: half-read file, damaged database
  kIo,                ///< any other failure of the operating system
};

/// The code's name as it appears in messages and in the protocol, for example "not-found".
[[nodiscard]] constexpr auto names(ErrorCode) {
  return names_in_order<ErrorCode>("invalid-argument", "not-found", "vanished", "permission-denied",
                                   "unavailable", "busy", "no-space", "unsupported", "corrupt",
                                   "io");
}

/// A failure with an external cause.
struct Error {
  ErrorCode code{};
  int errno_value = 0;  ///< the errno behind it, 0 where there is none
  std::string message;  ///< a sentence without a final full stop; objects in single quotes

  /// True if the object does not exist, or no longer exists: for callers to which both mean the
  /// same.
  [[nodiscard]] bool is_gone() const {
    return code == ErrorCode::kNotFound || code == ErrorCode::kVanished;
  }

  /// The same error with a caller's context: "while reading node 2: cannot open ...".
  [[nodiscard]] Error within(std::string_view context) && {
    message.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;

/// `return failure(ErrorCode::kNotFound, "no VM named 'x'");`
[[nodiscard]] inline tl::unexpected<Error> failure(ErrorCode code, std::string message,
                                                   int errno_value = 0) {
  return tl::unexpected<Error>(Error{code, errno_value, std::move(message)});
}

/// Passes an error on with context: `return failure(std::move(result).error(), "while ...");`
[[nodiscard]] inline tl::unexpected<Error> failure(Error error, std::string_view context) {
  return tl::unexpected<Error>(std::move(error).within(context));
}

}  // namespace vmnuma

#define VMNUMA_CONCATENATED_(left, right) left##right
#define VMNUMA_ASSIGN_OR_RETURN_(result, declaration, ...) \
  auto result = (__VA_ARGS__);                             \
  if (!result) {                                           \
    return tl::unexpected(std::move(result).error());      \
  }                                                        \
  declaration = *std::move(result)
#define VMNUMA_ASSIGN_OR_RETURN_AT_(line, ...) \
  VMNUMA_ASSIGN_OR_RETURN_(VMNUMA_CONCATENATED_(result_of_line_, line), __VA_ARGS__)

/// Two statements: returns the error of a `Result`, or else initialises a variable with its value.
/// `VMNUMA_ASSIGN_OR_RETURN(const auto text, read(path));`
#define VMNUMA_ASSIGN_OR_RETURN(declaration, ...) \
  VMNUMA_ASSIGN_OR_RETURN_AT_(__LINE__, declaration, __VA_ARGS__)

/// Returns the error of a `Result` whose value, if it has one, is not needed.
#define VMNUMA_RETURN_IF_ERROR(...)                      \
  do {                                                   \
    if (auto result_ = (__VA_ARGS__); !result_) {        \
      return tl::unexpected(std::move(result_).error()); \
    }                                                    \
  } while (false)

/// Ends the program on a broken invariant of our own. Always on. External input cannot make it
/// fire.
#define VMNUMA_CHECK(condition)      \
  do {                               \
    if (!(condition)) [[unlikely]] { \
      __builtin_trap();              \
    }                                \
  } while (false)
