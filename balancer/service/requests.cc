// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/requests.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "balancer/config/config_view.h"
#include "balancer/config/persisted_options.h"
#include "balancer/service/history_answer.h"
#include "stats/reports/latency_rows.h"
#include "stats/reports/tables.h"

namespace vmnuma::balancer {
namespace {

bool is_about_recording(const Command& command) {
  return std::holds_alternative<RecordStartRequest>(command) ||
         std::holds_alternative<RecordNextRequest>(command) ||
         std::holds_alternative<RecordStopRequest>(command);
}

bool asks_for_latencies(const Command& command) {
  const auto* asked = std::get_if<StatsRequest>(&command);
  return asked != nullptr && asked->type == stats::kLatencyTable;
}

std::optional<PlayCommand> play_command(const Command& command) {
  return std::visit(
      [](const auto& request) -> std::optional<PlayCommand> {
        if constexpr (std::is_constructible_v<PlayCommand, decltype(request)>) {
          return request;
        } else {
          return std::nullopt;
        }
      },
      command);
}

bool takes_long(const Command& question) {
  return std::holds_alternative<WhatIfRequest>(question) ||
         std::holds_alternative<PlanRequest>(question) ||
         std::holds_alternative<ExplainRequest>(question) ||
         std::holds_alternative<StateRequest>(question);
}

}  // namespace

Requests::Requests(Parts parts)
    : parts_(std::move(parts)),
      short_questions_(
          parts_.setup.board, "answers", parts_.service,
          [this] { return parts_.controller.copy(); }, send_line(), parts_.setup.host->root()),
      long_questions_(
          parts_.setup.board, "what-if", parts_.service,
          [this] { return parts_.controller.copy(); }, send_line(), parts_.setup.host->root()) {}

Result<void> Requests::listen() {
  return ControlSocket::listen(parts_.service, parts_.setup.config.socket_path,
                               parts_.setup.config.socket_group,
                               [this](std::int64_t token, const Peer& peer,
                                      const Request& request) { take(token, peer, request); })
      .map([this](std::unique_ptr<ControlSocket>&& socket) { socket_ = std::move(socket); });
}

void Requests::take(std::int64_t token, const Peer& peer, const Request& request) {
  const Asked asked{token, request.id};
  const Command& command = request.command;
  if (const auto* history = std::get_if<HistoryRequest>(&command)) {
    look_back(asked, [wanted = *history, host = HostVmsAndNodes{parts_.vms.now(), parts_.topology}](
                         stats::History& kept) { return history_answer(kept, wanted, host); });
  } else if (const auto* reservations = std::get_if<ReservationHistoryRequest>(&command)) {
    look_back(asked, [wanted = *reservations](stats::History& kept) {
      return reservation_history_answer(kept, wanted);
    });
  } else if (const auto* events = std::get_if<EventsRequest>(&command)) {
    answer_events(asked, *events);
  } else if (std::holds_alternative<ConfigRequest>(command)) {
    send(asked, Answer(config_view(config_now())));
  } else if (is_about_recording(command)) {
    send(asked, parts_.controller.record(command));
  } else if (asks_for_latencies(command)) {
    send(asked, Answer(stats::latency_table(
                    stats::latency_rows(parts_.topology, parts_.latencies.found()))));
  } else if (const std::optional<PlayCommand> played = play_command(command)) {
    play(asked, *played);
  } else if (changes_something(command)) {
    change(asked, command);
  } else {
    (takes_long(command) ? long_questions_ : short_questions_).ask(token, peer, request);
  }
}

void Requests::change(Asked asked, const Command& command) {
  waiting_[asked.token] = asked.id;
  const auto* option = std::get_if<OptionsSetRequest>(&command);
  if (option != nullptr && option->persist) {
    keep_option(asked.token, *option);
  } else {
    parts_.carry_out(parts_.controller.take(CommandReceived{asked.token, command}));
  }
}

void Requests::send(Asked asked, const Result<Answer>& answer) {
  send_line()(asked.token, encode_response(asked.id, answer));
}

Questions::Reply Requests::send_line() {
  return [this](std::int64_t token, std::string line) {
    if (socket_ != nullptr) {  // otherwise the daemon is about to exit
      socket_->answer(token, std::move(line));
    }
  };
}

void Requests::reply(const Reply& reply) {
  const auto found = waiting_.find(reply.token);
  const std::int64_t id = found == waiting_.end() ? 0 : found->second;
  waiting_.erase(reply.token);
  send({reply.token, id}, reply.answer);
}

// ---- from the history ----

void Requests::look_back(Asked asked, Look look) {
  if (!parts_.history.has_history()) {
    send(asked,
         failure(ErrorCode::kUnavailable, "there is no history: " + parts_.setup.history_problem));
    return;
  }
  const bool posted =
      parts_.history.read([this, asked, look = std::move(look)](stats::History& history) {
        boost::asio::post(parts_.service,
                          [this, asked, answer = look(history)] { send(asked, answer); });
      });
  if (!posted) {
    send(asked, failure(ErrorCode::kBusy, "the history is busy, try again"));
  }
}

void Requests::answer_events(Asked asked, const EventsRequest& request) {
  const RecentEvents& recent = parts_.log.recent();
  if (!request.vm) {
    send(asked, Answer(recent.answer(request)));
    return;
  }
  const auto answer = [&recent, request](const std::string& name) {
    EventsRequest of_name = request;
    of_name.vm = name;
    return Answer(recent.answer(of_name));
  };
  const Result<std::string> running = vm_name(*request.vm, {}, parts_.vms.now());
  if (running || !asks_about_unknown_vm(request, recent)) {
    send(asked, answer(running.value_or(*request.vm)));
  } else if (!parts_.history.has_history()) {
    send(asked, tl::unexpected(running.error()));
  } else {
    look_back(asked, [vm = *request.vm, now = parts_.vms.now(), answer](stats::History& history) {
      return past_vm_name(history, vm, now).map(answer);
    });
  }
}

// ---- changes that involve more than the controller ----

void Requests::write_policy(PolicyWrite policy) {
  const std::int64_t token = policy.token;
  const bool posted = parts_.vms.post("writing a policy", [this, policy = std::move(policy)] {
    Result<void> written =
        parts_.setup.host->control().set_policy(policy.vm, policy.settings, policy.persistent);
    boost::asio::post(parts_.service, [this, policy, written = std::move(written)] {
      policy_written(policy, written);
    });
  });
  if (!posted) {
    reply({token, failure(ErrorCode::kBusy, "libvirt is slow to answer, try again")});
  }
}

void Requests::policy_written(const PolicyWrite& policy, const Result<void>& written) {
  if (!written) {
    reply({policy.token, tl::unexpected(written.error())});
    return;
  }
  DoneView done = done_view(policy);
  parts_.log.say({Severity::kNotice, done.message + ", by command", {{"VM", policy.name}}});
  reply({policy.token, Answer(std::move(done))});
}

/// Has the host make a change, which takes effect when the host reports it.
void Requests::play(Asked asked, const PlayCommand& command) {
  const bool posted = parts_.vms.post("playing", [this, asked, command] {
    Result<Answer> answer = parts_.setup.host->play(command).map([](std::string&& done) {
      return Answer(DoneView{std::move(done), std::nullopt});
    });
    boost::asio::post(parts_.service,
                      [this, asked, answer = std::move(answer)] { send(asked, answer); });
  });
  if (!posted) {
    send(asked, failure(ErrorCode::kBusy, "the host is slow to answer, try again"));
  }
}

/// Stores the option first, so that the answer can report the result.
void Requests::keep_option(std::int64_t token, const OptionsSetRequest& request) {
  const bool posted = parts_.history.post(
      "keeping an option", [this, token, request, state_dir = parts_.setup.config.state_dir] {
        Result<void> kept = persist_option(state_dir, request.name, request.value);
        boost::asio::post(parts_.service, [this, token, request, kept = std::move(kept)] {
          set_option(token, request, kept);
        });
      });
  if (!posted) {
    set_option(token, request, failure(ErrorCode::kBusy, "the disk is slow to answer"));
  }
}

void Requests::set_option(std::int64_t token, OptionsSetRequest request, const Result<void>& kept) {
  request.persist = kept.has_value();
  Effects effects = parts_.controller.take(CommandReceived{token, request});
  for (Reply& answer : effects.replies) {
    if (answer.answer && !kept) {
      answer.answer = failure(kept.error(),
                              fmt::format("{} is {} now, but could not be kept for the next start",
                                          request.name, request.value));
    }
  }
  parts_.carry_out(std::move(effects));
}

/// The configuration as read, with the options that decisions currently use.
Config Requests::config_now() const {
  Config config = parts_.setup.config;
  if (const Result<Answer> answer = parts_.controller.now().answer(OptionsListRequest{})) {
    for (const OptionView& option : std::get<OptionsView>(*answer).options) {
      config.origins[option.name] = option.origin;
      (void)vmnuma::set_option(config.options, option.name, option.value);  // it is a valid value
    }
  }
  return config;
}

}  // namespace vmnuma::balancer
