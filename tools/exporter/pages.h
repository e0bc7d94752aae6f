// SPDX-License-Identifier: Apache-2.0
/// What is served: the dashboard's files, its data and the metrics.
///
///     /                 the dashboard, with its files /style.css, /app.js and others
///     /metrics          Prometheus' text format
///     /api/state        the last reading, for the dashboard
///     /api/past         the last minutes, for its plots
///
/// Problem: answering must neither wait for the daemon nor cost more the more often somebody asks.
/// Approach: texts are made once a reading and shared by all who ask before the next.
///
/// Properties:
///  - without the daemon everything is still answered with 200, and says so;
///  - any other path is 404;
///  - where only this host may ask, names of other hosts are refused, so that no web page can reach
///    the data by pointing its own name here.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "tools/exporter/http_message.h"
#include "tools/exporter/past.h"
#include "tools/exporter/reading.h"

namespace vmnuma::tools {

class Pages {
 public:
  /// `only_local`: it listens at a loopback address.
  explicit Pages(bool only_local);

  /// From now on this is shown. Any thread, one at a time.
  void show(const Reading& reading);
  /// Any thread.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) const;

 private:
  using Text = std::shared_ptr<const std::string>;

  bool only_local_;
  Past past_;  ///< of who calls show()
  mutable std::mutex mutex_;
  Text metrics_;
  Text state_;
  Text past_json_;
};

/// Whether an address ("127.0.0.1", "::1") can be reached from this host only.
[[nodiscard]] bool is_loopback(const std::string& address);

}  // namespace vmnuma::tools
