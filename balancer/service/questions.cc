// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/questions.h"

#include <chrono>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "balancer/protocol/response.h"
#include "balancer/record/recorder.h"
#include "balancer/service/device_interrupts.h"
#include "placement/model/text.h"
#include "stats/files/directory.h"

namespace vmnuma::balancer {

namespace {

/// The time for one answer; answers are made from memory, and from a few small files.
constexpr std::chrono::seconds kAnswerAllowed{30};

/// Completes `view` from the host's files, if they can be read.
void complete(ExplainView& view, const Controller& controller, const std::string& root) {
  const auto id = parse_vm_id(view.vm_uuid);
  const VmRecord* vm = id ? controller.ledger().find(*id) : nullptr;
  const auto directory = files::Directory::open(root);
  if (vm != nullptr && directory && !view.devices.empty()) {
    add_interrupts(view, vm->description, *directory);
  }
}

std::string line_for(const Controller& controller, const Request& question,
                     const std::string& root) {
  if (std::holds_alternative<StateRequest>(question.command)) {
    return encode_response(question.id, Result<Answer>(state_of(controller)));
  }
  Result<Answer> answer = controller.answer(question.command);
  if (auto* view = answer ? std::get_if<ExplainView>(&*answer) : nullptr) {
    complete(*view, controller, root);
  }
  return encode_response(question.id, answer);
}

}  // namespace

Questions::Questions(TaskBoard& board, std::string name, boost::asio::io_context& service,
                     Copy copy, Reply reply, std::string root)
    : service_(service),
      copy_(std::move(copy)),
      reply_(std::move(reply)),
      root_(std::move(root)),
      worker_(board, std::move(name), /*most_waiting=*/1, kAnswerAllowed) {}

void Questions::ask(std::int64_t token, const Peer& peer, Request question) {
  if (waiting_count_ >= kMostWaiting) {
    reply_(token, encode_response(question.id, Result<Answer>(failure(
                                                   ErrorCode::kBusy,
                                                   "too many requests are waiting, try again"))));
    return;
  }
  waiting_[{!peer.is_administrator, peer.uid}].push_back({token, std::move(question)});
  ++waiting_count_;
  answer_next();
}

/// Takes the next question; one must be waiting.
Questions::Waiting Questions::take_next() {
  auto user = waiting_.begin();
  if (user->first.is_ordinary) {
    const auto after = waiting_.upper_bound(last_);
    user = after == waiting_.end() ? user : after;
    last_ = user->first;
  }
  Waiting next = std::move(user->second.front());
  user->second.pop_front();
  if (user->second.empty()) {
    waiting_.erase(user);
  }
  --waiting_count_;
  return next;
}

void Questions::answer_next() {
  if (answering_ || waiting_.empty()) {
    return;
  }
  Waiting next = take_next();
  answering_ = true;
  const std::int64_t token = next.token;
  const bool posted = worker_.post("answering", [this, token, question = std::move(next.question),
                                                 controller = copy_()]() mutable {
    std::string line = line_for(*controller, question, root_);
    controller.reset();  // freed on this thread, because it takes time
    boost::asio::post(service_, [this, token, line = std::move(line)]() mutable {
      answering_ = false;
      reply_(token, std::move(line));
      answer_next();
    });
  });
  if (!posted) {  // the daemon is about to exit
    answering_ = false;
  }
}

}  // namespace vmnuma::balancer
