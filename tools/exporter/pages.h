// SPDX-License-Identifier: Apache-2.0
/// Answers requests: the dashboard's files, its data and the metrics.
///
///     /              the dashboard, with its files /style.css, /app.js and others
///     /metrics       Prometheus' text format
///     /api/state     the last reading, for the dashboard
///     /api/past      the last minutes, for its plots
///     /api/vm/UUID   why a VM is where it is; available from the reading after the first request
///     /healthz       200: this program answers
///     /readyz        200 if the daemon answered the last request and has measurements, else 503
///
/// Problem: answering must not wait for the daemon, and its cost must not grow with the number of
/// requests. Approach: texts are made once per reading and shared by all requests until the next
/// reading; they are compressed at the first request that accepts gzip. Explanations, which cost
/// the daemon more, are read for the recently requested VMs, at most kMostWanted.
///
/// Properties:
///  - without the daemon everything except /readyz is still answered with 200, and shows that the
///    daemon does not answer;
///  - any other path is 404;
///  - if only this host may connect, names of other hosts are rejected, so that no web page can
///    reach the data by making its own name resolve to this address (DNS rebinding).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/exporter/http_message.h"
#include "tools/exporter/past.h"
#include "tools/exporter/reading.h"

namespace vmnuma::tools {

class Pages {
 public:
  static constexpr std::size_t kMostWanted = 4;
  static constexpr int kWantedFor = 8;  ///< number of readings after the last request

  /// `only_local`: the server listens on a loopback address.
  explicit Pages(bool only_local);

  /// Replaces the reading that is shown. Any thread, one at a time.
  void show(const Reading& reading);
  /// Returns the UUIDs of the VMs to explain in the next reading. Any thread.
  [[nodiscard]] std::vector<std::string> wanted() const;
  /// Any thread.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) const;

 private:
  struct Text {
    std::shared_ptr<const std::string> plain;
    std::shared_ptr<const std::string> packed = {};  ///< null until requested
  };
  [[nodiscard]] static HttpResponse response(std::string_view type, Text& text, bool takes_gzip);

  [[nodiscard]] HttpResponse explanation(const std::string& uuid, bool takes_gzip) const;

  bool only_local_;
  Past past_;  ///< used by the caller of show()
  mutable std::mutex mutex_;
  mutable std::map<std::string_view, std::pair<std::string_view, Text>>
      texts_;                                      ///< by path: type and text
  mutable std::map<std::string, Text> explained_;  ///< by UUID
  mutable std::map<std::string, int> wanted_;      ///< by UUID: remaining number of readings
  std::string not_ready_;                          ///< why not; empty: ready
};

/// Returns whether an address ("127.0.0.1", "::1") can be reached only from this host.
[[nodiscard]] bool is_loopback(const std::string& address);

}  // namespace vmnuma::tools
