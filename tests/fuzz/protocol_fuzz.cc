// SPDX-License-Identifier: Apache-2.0
// Any bytes on the control socket, at the daemon's end and at a program's.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "balancer/protocol/line_buffer.h"
#include "balancer/protocol/response.h"

namespace {

using namespace vmnuma::balancer;

void check_request(std::string_view line) {
  const auto request = parse_request(line);
  if (!request) {
    // Whatever it was, the answer is one line that a program can read.
    const std::string answer = encode_response(request.error());
    VMNUMA_CHECK(answer.find('\n') == answer.size() - 1);
    const auto response = parse_response(answer, request.error().id.value_or(1));
    VMNUMA_CHECK(response && !response->result);
    VMNUMA_CHECK(response->result.error().code == request.error().error.code);
    return;
  }
  const auto again = parse_request(encode_request(*request));
  VMNUMA_CHECK(again && *again == *request);
}

/// A view that can be read is the same after one more way through the socket.
template <class View>
void check_view(std::string_view text) {
  const auto view = decode_view<View>(text);
  if (!view) {
    return;
  }
  const auto response = parse_response(encode_response(1, Answer(*view)), 1);
  VMNUMA_CHECK(response && response->result);
  const auto again = decode_view<View>(*response->result);
  VMNUMA_CHECK(again && *again == *view);
}

/// As each view that there is.
template <std::size_t... kIndex>
void check_views(std::string_view text, std::index_sequence<kIndex...> /*all*/) {
  (check_view<std::variant_alternative_t<kIndex, AnswerVariant>>(text), ...);
}

/// However the bytes are cut, the same lines come out.
void check_lines(std::string_view bytes) {
  constexpr std::size_t kLimit = 64;
  LineBuffer whole(kLimit);
  LineBuffer pieces(kLimit);
  const bool fits = whole.append(bytes).has_value();
  bool pieces_fit = true;
  for (std::size_t at = 0; at < bytes.size() && pieces_fit; at += 7) {
    pieces_fit = pieces.append(bytes.substr(at, 7)).has_value();
  }
  VMNUMA_CHECK(fits == pieces_fit);
  while (const auto line = whole.next_line()) {
    VMNUMA_CHECK(line->size() <= kLimit);
    VMNUMA_CHECK(pieces.next_line() == line);
  }
  VMNUMA_CHECK(!pieces.next_line());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(data, data + size);
  check_lines(bytes);
  check_request(bytes);
  if (const auto response = parse_response(bytes, 1); response && response->result) {
    check_view<StatusView>(*response->result);
  }
  check_views(bytes, std::make_index_sequence<std::variant_size_v<AnswerVariant>>());
  return 0;
}
