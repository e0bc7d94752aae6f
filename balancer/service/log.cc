// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "stats/text/printable.h"

namespace vmnuma::balancer {
namespace {

/// The priority of syslog(3), which the journal also uses: 7 for debug to 3 for error.
int priority_of(Severity severity) {
  return 7 - static_cast<int>(severity);
}

/// True if standard error is the journal, which its device and inode show (systemd.exec(5),
/// $JOURNAL_STREAM).
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream != nullptr && fstat(STDERR_FILENO, &status) == 0 &&
         fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace

Log::Log(Severity level) : level_(level), to_journal_(stderr_is_journal()) {}

void Log::write(const LogLine& line) const {
  if (line.severity < level_) {
    return;
  }
  if (!to_journal_) {
    std::string fields;
    for (const auto& [name, value] : line.fields) {
      fields += fmt::format(" {}={}", name, text::printable(value));
    }
    const std::string text = fmt::format("{}{}\n", text::printable(line.message),
                                         fields.empty() ? "" : " [" + fields.substr(1) + "]");
    (void)std::fputs(text.c_str(), stderr);  // a failure cannot be reported anywhere
    return;
  }
  std::vector<std::string> parts = {"MESSAGE=" + text::printable(line.message),
                                    fmt::format("PRIORITY={}", priority_of(line.severity))};
  for (const auto& [name, value] : line.fields) {
    parts.push_back(fmt::format("VMNUMA_{}={}", name, text::printable(value)));
  }
  std::vector<iovec> entries;
  entries.reserve(parts.size());
  for (std::string& part : parts) {
    entries.push_back({part.data(), part.size()});
  }
  (void)sd_journal_sendv(entries.data(), static_cast<int>(entries.size()));  // as above
}

}  // namespace vmnuma::balancer
