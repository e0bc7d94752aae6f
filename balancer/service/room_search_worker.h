// SPDX-License-Identifier: Apache-2.0
/// Searches for moves that make room, beside the service's thread and outside its process.
///
/// Problem: the solver may take long, need much memory or end its process, and the daemon must do
/// none of that. Approach: it runs `vmnuma make-room --json`, which asks this daemon for its state,
/// searches in limits on time and memory, and moves no VM; what that prints is the answer. The
/// program has none of the daemon's capabilities.
///
/// Properties:
///  - every search is answered, whatever becomes of the program;
///  - a search that does not end in its time and kGrace is ended, and so is the one that runs at
///  the end of the daemon, at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "balancer/controller/events.h"
#include "balancer/service/worker.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::balancer {

class RoomSearchWorker {
 public:
  /// For what the program does beside searching.
  static constexpr std::chrono::seconds kGrace{10};
  /// Called on the worker's thread.
  using OnSearched = std::function<void(RoomSearched)>;

  /// `program` is the path of `vmnuma`; empty if there is none.
  RoomSearchWorker(TaskBoard& board, std::string program, std::string socket_path,
                   OnSearched on_searched);
  /// Ends the search that runs; it is not answered.
  ~RoomSearchWorker();
  RoomSearchWorker(const RoomSearchWorker&) = delete;
  RoomSearchWorker& operator=(const RoomSearchWorker&) = delete;

  /// Any thread. One at a time.
  void search(RoomSearch search);

 private:
  void run(const RoomSearch& search);

  std::string program_;
  std::string socket_path_;
  OnSearched on_searched_;
  files::FileDescriptor stop_;  ///< an eventfd(2): readable once the search is to end
  Worker worker_;               // last, so that its thread ends before what it uses
};

/// The `vmnuma` that belongs to a daemon in this folder: the one beside it, or that in bin if the
/// daemon is in sbin. Empty if there is none, or if the folder is not known (empty).
[[nodiscard]] std::string search_program(const std::filesystem::path& folder);

/// What `vmnuma make-room --json` has printed, as the answer to a search for that VM. What cannot
/// be understood makes no room, and says so.
[[nodiscard]] RoomSearched room_searched(const placement::VmId& vm, std::string_view printed);

}  // namespace vmnuma::balancer
