// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recorded_service.h"

#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include "balancer/protocol/response.h"

namespace vmnuma::balancer {

RecordedService::RecordedService(Setup setup)
    : setup_(std::move(setup)), timer_(context_), log_(setup_.log_level) {}

RecordedService::~RecordedService() = default;

Result<std::unique_ptr<RecordedService>> RecordedService::create(Setup setup) {
  std::unique_ptr<RecordedService> service(new RecordedService(std::move(setup)));
  RecordedService& self = *service;
  VMNUMA_ASSIGN_OR_RETURN(
      self.host_, RecordedHost::open({self.setup_.path, self.setup_.empty_history,
                                      [&self](const LogLine& line) { self.log_.write(line); },
                                      [&self] { return self.is_stopped_.load(); }}));
  VMNUMA_ASSIGN_OR_RETURN(
      self.socket_, ControlSocket::listen(
                        self.context_, self.setup_.socket_path, self.setup_.socket_group,
                        [&self](std::int64_t token, const Peer& /*peer*/, const Request& request) {
                          self.socket_->answer(
                              token, encode_response(request.id, self.answer(request.command)));
                        }));
  return service;
}

void RecordedService::run() {
  setup_.signals.pass_to({[] {},
                          [this] {
                            is_stopped_ = true;
                            boost::asio::post(context_, [this] { context_.stop(); });
                          }});
  log_.write(Severity::kNotice, fmt::format("vmnumad {} shows '{}'; nothing can be changed in it",
                                            VMNUMA_VERSION, setup_.path));
  arm();
  (void)sd_notify(0, "READY=1");  // no listener if not started by systemd
  context_.run();
  (void)setup_.signals.stop_passing();
}

void RecordedService::arm() {
  if (is_held_ || !host_->end().empty()) {
    return;
  }
  timer_.expires_after(host_->epoch_length() / setup_.speed);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) {
      on_epoch();
    }
  });
}

void RecordedService::on_epoch() {
  if (is_held_) {
    return;  // held since the timer ran out
  }
  if (const Result<void> done = host_->step(1); !done) {
    is_held_ = true;
    log_.write(Severity::kError, fmt::format("the recording stops here: {}", done.error().message));
  } else if (!host_->end().empty()) {
    log_.write(Severity::kNotice, host_->end());
  }
  (void)sd_notify(0, "WATCHDOG=1");
  arm();
}

Answer RecordedService::place() const {
  const std::string held = is_held_ ? ", held" : "";
  return DoneView{fmt::format("epoch {} of the recording{}{}", host_->position(), held,
                              host_->end().empty() ? "" : "; " + host_->end()),
                  std::nullopt};
}

Result<Answer> RecordedService::answer(const Command& command) {
  const auto* step = std::get_if<SimStepRequest>(&command);
  const bool pause = std::holds_alternative<PauseRequest>(command);
  if (step == nullptr && !pause && !std::holds_alternative<ResumeRequest>(command)) {
    return host_->answer(command);
  }
  is_held_ = step != nullptr || pause;
  timer_.cancel();
  const Result<void> done = step == nullptr ? Result<void>() : host_->step(step->epochs);
  arm();
  return done.map([this] { return place(); });
}

}  // namespace vmnuma::balancer
