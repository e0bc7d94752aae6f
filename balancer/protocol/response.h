// SPDX-License-Identifier: Apache-2.0
/// The control socket's answers.
///
/// Problem: views must be transmitted unchanged, even between a program and a daemon of
/// neighbouring versions. Approach: each view's fields are listed once, for writing and reading. A
/// reader skips unknown fields and leaves missing ones at their default.
///
///     {"version":1,"id":7,"ok":true,"result":{...}}
///     {"version":1,"id":7,"ok":false,"error":{"code":"not-found","message":"there is no VM
///     'web1'"}}
///
/// Properties:
///  - a view that is encoded and decoded is the same view;
///  - text that is not valid UTF-8 (libvirt accepts any bytes as a VM's name) never breaks an
///    answer;
///  - every error code is transmitted unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Programs refuse to read a longer answer.
inline constexpr std::size_t kLongestAnswer = std::size_t{16} * 1024 * 1024;

/// The views of all commands, without duplicates.
template <class Views, class... Requests>
struct EachViewOf {
  using Type = Views;
};
template <class... Views, class Request, class... Others>
struct EachViewOf<std::variant<Views...>, Request, Others...>
    : EachViewOf<std::conditional_t<(std::is_same_v<Views, typename Request::View> || ...),
                                    std::variant<Views...>,
                                    std::variant<Views..., typename Request::View>>,
                 Others...> {};
template <class Commands>
struct AnswersTo;
template <class... Requests>
struct AnswersTo<std::variant<Requests...>> : EachViewOf<std::variant<>, Requests...> {};

using AnswerVariant = AnswersTo<CommandVariant>::Type;

/// The answer to a command. Copied, moved and destroyed in one place, as Command is.
struct Answer : AnswerVariant {
  using AnswerVariant::AnswerVariant;
  Answer();
  Answer(const Answer& other);
  Answer(Answer&& other) noexcept;
  Answer& operator=(const Answer& other);
  Answer& operator=(Answer&& other) noexcept;
  ~Answer();
  bool operator==(const Answer& other) const;
};

/// The line that answers request `id`, with its '\n'.
[[nodiscard]] std::string encode_response(std::int64_t id, const Result<Answer>& answer);

/// The answer line for something that is not a request.
[[nodiscard]] std::string encode_response(const BadRequest& bad);

/// An answer as received by a program.
struct Response {
  Result<std::string> result;  ///< its JSON text, or the daemon's error as it was sent
};

/// Parses the answer to request `id`. Errors: corrupt if the line does not answer this request;
/// unsupported if it is of another version.
[[nodiscard]] Result<Response> parse_response(std::string_view line, std::int64_t id);

/// Parses the view with that index in Answer from a result's JSON text. Error: corrupt.
[[nodiscard]] Result<Answer> decode_answer(std::size_t index, std::string_view result);
template <class View>
[[nodiscard]] Result<View> decode_view(std::string_view result) {
  return decode_answer(Answer(std::in_place_type<View>).index(), result).map([](Answer&& answer) {
    return std::get<View>(std::move(answer));
  });
}

}  // namespace vmnuma::balancer
