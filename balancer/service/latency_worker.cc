// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/latency_worker.h"

#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

namespace vmnuma::balancer {
namespace {

constexpr std::chrono::minutes kLatencyAllowed{10};

}  // namespace

LatencyWorker::LatencyWorker(TaskBoard& board, boost::asio::io_context& service, Host& host,
                             EventLog& log, std::string state_dir, std::function<void()> on_found)
    : service_(service),
      host_(host),
      log_(log),
      state_dir_(std::move(state_dir)),
      on_found_(std::move(on_found)),
      worker_(board, "latency", 1, kLatencyAllowed) {}

void LatencyWorker::find(const Topology& topology) {
  known_.keep_nodes_of(topology);
  const bool posted = worker_.post("measuring latencies", [this, topology, known = known_.all()] {
    FoundLatencies found = host_.find_latencies(state_dir_, topology, known, stopping_);
    boost::asio::post(service_,
                      [this, found = std::move(found)]() mutable { take(std::move(found)); });
  });
  if (posted) {
    schedule_.begun(topology);
  }
}

void LatencyWorker::find_if_due(const Topology& topology, Backoff::Time now) {
  if (schedule_.is_due(topology, now)) {
    find(topology);
  }
}

void LatencyWorker::take(FoundLatencies found) {
  schedule_.ended(!found.again, std::chrono::steady_clock::now());
  if (found.log.message != last_logged_) {
    log_.say(found.log);
    last_logged_ = found.log.message;
  }
  found_ = std::move(found.latencies);
  known_.add(found_.measured);
  on_found_();
}

}  // namespace vmnuma::balancer
