// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <sys/signalfd.h>

#include "stats/files/file_descriptor.h"
#include "stats/text/printable.h"
#include "tools/exporter/arguments.h"
#include "tools/exporter/daemon_watch.h"
#include "tools/exporter/http_server.h"
#include "tools/exporter/pages.h"
#include "tools/exporter/web_access.h"

namespace vmnuma::tools {

namespace {

void say(const std::string& sentence) {
  std::cerr << "vmnuma-exporter: " << text::printable(sentence) << std::endl;
}

/// Returns a descriptor that becomes readable once SIGTERM or SIGINT has arrived. Call before any
/// threads are created.
files::FileDescriptor stop_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  VMNUMA_CHECK(pthread_sigmask(SIG_BLOCK, &signals, nullptr) == 0);
  return files::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
}

int run(const ExporterArguments& arguments) {
  const auto stop = stop_signals();
  // Another host's name cannot point to a Unix socket.
  Pages pages(arguments.listen.path.empty() && is_loopback(arguments.listen.host));
  std::shared_ptr<WebAccess> access;
  if (!arguments.web_config_file.empty()) {
    auto read = WebAccess::read(arguments.web_config_file, say);
    if (!read) {
      say(read.error().message + "; the exporter does not start");
      return kExporterFailed;
    }
    access = std::make_shared<WebAccess>(std::move(*read));
  }
  auto server = HttpServer::listen(
      arguments.listen, {}, [&pages](const HttpRequest& request) { return pages.answer(request); },
      std::move(access));
  if (!server) {
    say(server.error().message);
    return kExporterFailed;
  }
  const auto read = [&] {
    return read_daemon(arguments.socket_path, DaemonWatch::kLimit).map([&](Views&& views) {
      views.explained =
          read_explanations(arguments.socket_path, pages.wanted(), DaemonWatch::kLimit);
      return std::move(views);
    });
  };
  const DaemonWatch watch({read, [&pages](const Reading& reading) { pages.show(reading); }, say});
  std::cout << "vmnuma-exporter " VMNUMA_VERSION " serves " << (*server)->url() << std::endl;
  if (const auto served = (*server)->run(stop.get()); !served) {
    say(served.error().message);
    return kExporterFailed;
  }
  return kExporterOk;
}

}  // namespace

}  // namespace vmnuma::tools

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto arguments = vmnuma::tools::parse_exporter_arguments(words);
  if (!arguments) {
    const vmnuma::tools::ExporterExit& exit = arguments.error();
    (exit.code == vmnuma::tools::kExporterOk ? std::cout : std::cerr) << exit.text << std::flush;
    return exit.code;
  }
  return vmnuma::tools::run(*arguments);
}
