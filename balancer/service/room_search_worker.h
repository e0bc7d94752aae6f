// SPDX-License-Identifier: Apache-2.0
/// Searches for moves that make room, outside the service's thread and process.
///
/// Problem: the solver may run long, need much memory or crash, and none of that may affect the
/// daemon. Approach: it runs `vmnuma make-room --json`, which gets the state from this daemon,
/// searches within limits on time and memory, and moves no VM; its output is the answer. The
/// program has none of the daemon's capabilities.
///
/// Properties:
///  - every search is answered, whatever happens to the program;
///  - a search that does not end within its time and kGrace is killed; one that runs when the
///    daemon stops is killed at once.
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
  /// The time for the program's work other than searching.
  static constexpr std::chrono::seconds kGrace{10};
  /// Called on the worker's thread.
  using OnSearched = std::function<void(RoomSearched)>;

  /// `program` is the path of `vmnuma`; empty if there is none.
  RoomSearchWorker(TaskBoard& board, std::string program, std::string socket_path,
                   OnSearched on_searched);
  /// Ends a running search without an answer.
  ~RoomSearchWorker();
  RoomSearchWorker(const RoomSearchWorker&) = delete;
  RoomSearchWorker& operator=(const RoomSearchWorker&) = delete;

  /// Starts a search. Any thread. One at a time.
  void search(RoomSearch search);

 private:
  void run(const RoomSearch& search);

  std::string program_;
  std::string socket_path_;
  OnSearched on_searched_;
  files::FileDescriptor stop_;  ///< an eventfd(2): readable once the search must end
  Worker worker_;               // last, so that its thread ends before what it uses
};

/// The path of the `vmnuma` that belongs to a daemon in this folder: in the same folder, or in bin
/// if the daemon is in sbin. Empty if there is none, or if the folder is not known (empty).
[[nodiscard]] std::string search_program(const std::filesystem::path& folder);

/// Parses the output of `vmnuma make-room --json` as the answer to a search for that VM. If it
/// cannot be understood, the answer has no moves and gives that as the reason.
[[nodiscard]] RoomSearched room_searched(const VmId& vm, std::string_view printed);

}  // namespace vmnuma::balancer
