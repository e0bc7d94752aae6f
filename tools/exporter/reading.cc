// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/reading.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "balancer/protocol/response.h"
#include "stats/text/json.h"
#include "tools/client/client.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::int64_t kMovesShown = 30;

class Reader {
 public:
  Reader(const std::string& socket_path, milliseconds limit)
      : socket_path_(socket_path), deadline_(steady_clock::now() + limit) {}

  /// The answer's JSON text. The command's type guarantees that it changes nothing.
  template <class Request>
  [[nodiscard]] tl::expected<std::string, Refusal> text(Request request) const {
    static_assert(Request::kRights == balancer::Rights::kMember, "the exporter only reads");
    const auto left =
        std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now()).count();
    return ask(socket_path_, std::move(request), milliseconds(std::max<std::int64_t>(left, 1)));
  }
  /// Likewise, for an answer that may be missing.
  template <class Request>
  [[nodiscard]] tl::expected<std::string, Refusal> text_in_half_the_time(Request request) const {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now()) / 2;
    return Reader(socket_path_, left).text(std::move(request));
  }

 private:
  const std::string& socket_path_;
  steady_clock::time_point deadline_;
};

}  // namespace

Result<Views> read_daemon(const std::string& socket_path, milliseconds limit) {
  const Reader reader(socket_path, limit);
  auto status = reader.text(balancer::StatusRequest{});
  if (!status) {
    return tl::unexpected(std::move(status.error().error));
  }
  auto host = reader.text(balancer::HostRequest{});
  if (!host) {
    return tl::unexpected(std::move(host.error().error));
  }
  balancer::HistoryRequest recent;
  recent.limit = kMovesShown;
  auto history = reader.text_in_half_the_time(recent);
  VMNUMA_ASSIGN_OR_RETURN(auto status_view, balancer::decode_view<balancer::StatusView>(*status));
  VMNUMA_ASSIGN_OR_RETURN(auto host_view, balancer::decode_view<balancer::HostView>(*host));
  // The daemon may have no history, or its disk may hang; everything else is still shown.
  return Views{std::move(status_view), std::move(host_view), std::move(*status), std::move(*host),
               history ? std::move(*history) : "null"};
}

std::map<std::string, std::string> read_explanations(const std::string& socket_path,
                                                     const std::vector<std::string>& uuids,
                                                     milliseconds limit) {
  const Reader reader(socket_path, limit);
  std::map<std::string, std::string> explained;
  for (const std::string& uuid : uuids) {
    const auto explain = reader.text(balancer::ExplainRequest{uuid});
    if (explain) {
      explained[uuid] = "{\"explain\":" + *explain + "}";
    } else if (explain.error().by_daemon) {
      const nlohmann::ordered_json problem = {{"problem", explain.error().error.message}};
      explained[uuid] = text::json_text(problem);
    }
  }
  return explained;
}

}  // namespace vmnuma::tools
