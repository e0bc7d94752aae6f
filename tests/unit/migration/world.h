// SPDX-License-Identifier: Apache-2.0
/// A host with two nodes of four CPUs and one without memory and CPUs, VMs on it, and an executor
/// that runs in simulated time.
///
/// Faults: the k-th port call can fail before or after it took effect, or the program can die
/// there, which is an exception here; what outlives it (VMs, memory, journal) stays and a new
/// executor recovers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "migration/executor.h"
#include "tests/support/fake_domains.h"
#include "tests/support/fake_journal.h"
#include "tests/support/fake_memory.h"

namespace vmnuma::migration {

/// The program ended here.
struct Killed {};

struct Fault {
  enum class Kind { kFailsBefore, kFailsAfter, kKillBefore, kKillAfter, kHappensBefore };
  int call = 0;  ///< counted from 1
  Kind kind{};
  Error error;                      ///< for the failing ones
  std::function<void()> happening;  ///< for kHappensBefore
};

/// Counts the calls of all ports and makes some of them fail.
class Faults {
 public:
  void arm(Fault fault) { faults_.push_back(std::move(fault)); }
  void disarm() { faults_.clear(); }
  [[nodiscard]] int calls() const { return calls_; }
  void count_from_zero() { calls_ = 0; }

  /// Calls through, unless something is to happen here.
  template <class Call>
  auto through(Call call) -> decltype(call()) {
    ++calls_;
    const Fault* fault = nullptr;
    for (const Fault& armed : faults_) {
      fault = armed.call == calls_ ? &armed : fault;
    }
    if (fault == nullptr) {
      return call();
    }
    switch (fault->kind) {
      case Fault::Kind::kHappensBefore:
        fault->happening();
        return call();
      case Fault::Kind::kFailsBefore:
        return tl::unexpected(fault->error);
      case Fault::Kind::kKillBefore:
        throw Killed{};
      case Fault::Kind::kFailsAfter:
        (void)call();  // it took effect, but its caller is not told
        return tl::unexpected(fault->error);
      case Fault::Kind::kKillAfter:
        (void)call();  // as above
        throw Killed{};
    }
    return call();
  }

 private:
  int calls_ = 0;
  std::vector<Fault> faults_;
};

struct TestVm {
  VmId id;
  std::string name;
  VmProcess process;
  std::int32_t domain_id = 0;
};

class World {
 public:
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// A running VM with two vCPUs, an I/O thread and pins on the CPUs of `node`, memory there too.
  TestVm start_vm(const std::string& name, std::int32_t node, Bytes memory, bool huge);
  /// Its process and domain end.
  void end_vm(const TestVm& vm);
  /// It ends and starts anew at once: same UUID and name, another domain id and another process,
  /// pinned nowhere, with `memory` on `node`.
  TestVm replace_vm(const TestVm& vm, std::int32_t node, Bytes memory);

  /// All its threads and its memory to another node.
  [[nodiscard]] VmChange change(const TestVm& vm, std::int32_t from, std::int32_t to) const;
  [[nodiscard]] static Order order(std::int64_t action, std::vector<VmChange> changes);

  /// Steps until the executor asks for no more, or `until` says so. Returns the events.
  std::vector<ActionEvent> run(const std::function<bool()>& until = [] { return false; });
  /// The program dies and a new one recovers. Limits are kept.
  void restart();

  /// The domain as libvirt has it now, if it runs.
  [[nodiscard]] std::optional<VmDescription> running(const VmId& vm);
  /// 0 or 1 if all its threads are pinned there; -1 if not.
  [[nodiscard]] std::int32_t home(const TestVm& vm);
  [[nodiscard]] Bytes memory_on(const TestVm& vm, std::int32_t node) const {
    return memory.bytes_on(vm.process, NodeId{node});
  }
  [[nodiscard]] Executor& executor() { return *executor_; }
  [[nodiscard]] Microseconds now() const { return now_; }
  void pass(Microseconds time) { now_ += time; }
  void set_limits(const Limits& limits);
  [[nodiscard]] const Limits& limits() const { return limits_; }

  tests::FakeMemory memory;
  tests::FakeDomains domains;
  tests::FakeJournal journal;
  Faults faults;

 private:
  class Ports;
  Limits limits_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<Executor> executor_;
  Microseconds now_{1'000'000'000};
  TestVm start(VmDescription description, std::int32_t node, Bytes memory, bool huge);

  std::uint8_t vms_ = 0;
  std::int32_t domains_started_ = 0;
};

/// The only kFinished of the action; fails the test if there is not exactly one.
[[nodiscard]] ActionEvent finished(const std::vector<ActionEvent>& events, std::int64_t action);

}  // namespace vmnuma::migration
