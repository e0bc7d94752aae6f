// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/migration/world.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/migration/page_sizes.h"

namespace vmnuma::migration {

namespace {

std::vector<CpuId> cpus_of(std::int32_t node) {
  std::vector<CpuId> cpus;
  for (std::int32_t cpu = node * 4; cpu < node * 4 + 4; ++cpu) {
    cpus.push_back(CpuId{cpu});
  }
  return cpus;
}

std::vector<CpuId> all_cpus() {
  std::vector<CpuId> cpus = cpus_of(0);
  const std::vector<CpuId> others = cpus_of(1);
  cpus.insert(cpus.end(), others.begin(), others.end());
  return cpus;
}

}  // namespace

/// The fakes, seen through the faults.
class World::Ports final : public DomainControl, public PageMover, public Journal {
 public:
  explicit Ports(World& world) : world_(world) {}

  Result<void> pin(const DomainRun& run, ThreadId thread, const std::vector<CpuId>& cpus) override {
    return world_.faults.through([&] { return world_.domains.pin(run, thread, cpus); });
  }
  Result<void> change_memory_nodes(const DomainRun& run, const std::vector<NodeId>& nodes,
                                   MemoryNodes change) override {
    return world_.faults.through(
        [&] { return world_.domains.change_memory_nodes(run, nodes, change); });
  }
  Result<void> check_free(const DomainRun& run) override {
    return world_.faults.through([&] { return world_.domains.check_free(run); });
  }
  Result<void> set_policy(const VmId& vm, const std::vector<PolicySetting>& settings,
                          bool persistent) override {
    return world_.faults.through(
        [&] { return world_.domains.set_policy(vm, settings, persistent); });
  }

  Result<void> check(const VmProcess& process) override {
    return world_.faults.through([&] { return world_.memory.check(process); });
  }
  Result<std::vector<MemoryRange>> find_ranges(const VmProcess& process) override {
    return world_.faults.through([&] { return world_.memory.find_ranges(process); });
  }
  Result<std::vector<int>> query(const VmProcess& process,
                                 std::span<const std::uint64_t> addresses) override {
    return world_.faults.through([&] { return world_.memory.query(process, addresses); });
  }
  Result<void> reveal(const VmProcess& process, std::span<const std::uint64_t> addresses,
                      Bytes unit) override {
    return world_.faults.through([&] { return world_.memory.reveal(process, addresses, unit); });
  }
  Result<MoveResult> move(const VmProcess& process, std::span<const std::uint64_t> addresses,
                          NodeId node, SharedPages shared) override {
    return world_.faults.through(
        [&] { return world_.memory.move(process, addresses, node, shared); });
  }
  Result<NodeMemory> node_memory(NodeId node) override {
    return world_.faults.through([&] { return world_.memory.node_memory(node); });
  }

  Result<void> open(const Order& order) override {
    return world_.faults.through([&] { return world_.journal.open(order); });
  }
  Result<void> begin_step(std::int64_t action, std::int32_t number,
                          std::string_view text) override {
    return world_.faults.through([&] { return world_.journal.begin_step(action, number, text); });
  }
  Result<void> end_step(std::int64_t action, std::int32_t number,
                        std::string_view outcome) override {
    return world_.faults.through([&] { return world_.journal.end_step(action, number, outcome); });
  }
  Result<void> close(std::int64_t action, ActionState state, std::string_view detail) override {
    return world_.faults.through([&] { return world_.journal.close(action, state, detail); });
  }
  Result<std::vector<OpenAction>> open_actions() override { return world_.journal.open_actions(); }

 private:
  World& world_;
};

World::World()
    : memory({{NodeId{0}, kMiB * 256, {}}, {NodeId{1}, kMiB * 256, {}}}),
      domains(all_cpus(), {NodeId{0}, NodeId{1}, NodeId{2}}),
      ports_(std::make_unique<Ports>(*this)) {
  limits_.all_cpus = all_cpus();
  restart();
}

World::~World() = default;

TestVm World::start_vm(const std::string& name, std::int32_t node, Bytes size, bool huge) {
  VmDescription description;
  description.id = VmId{{++vms_}};
  description.name = name;
  description.vcpus = {0, 1};
  description.max_vcpus = 2;
  description.io_threads = {1};
  description.vcpu_pins = {{0, cpus_of(node)}, {1, cpus_of(node)}};
  description.emulator_pin = cpus_of(node);
  description.io_thread_pins = {{1, cpus_of(node)}};
  return start(std::move(description), node, size, huge);
}

TestVm World::start(VmDescription description, std::int32_t node, Bytes size, bool huge) {
  description.domain_id = ++domains_started_;
  TestVm vm{.id = description.id,
            .name = description.name,
            .process = memory.start_process(),
            .domain_id = description.domain_id};
  domains.start(std::move(description));
  memory.map(vm.process, {.start = kRangeStart,
                          .length = size + kMiB * 2,
                          .page_size = kKiB * 4,
                          .huge_page_size = kMiB * 2,
                          .hugetlb = false,
                          .shared = false,
                          .policy = {},
                          .resident = {}});
  memory.populate(vm.process, kRangeStart, size, NodeId{node}, huge);
  return vm;
}

TestVm World::replace_vm(const TestVm& vm, std::int32_t node, Bytes size) {
  end_vm(vm);
  VmDescription description;
  description.id = vm.id;
  description.name = vm.name;
  description.vcpus = {0, 1};
  description.max_vcpus = 2;
  description.io_threads = {1};
  return start(std::move(description), node, size, /*huge=*/false);
}

void World::end_vm(const TestVm& vm) {
  memory.end_process(vm.process);
  domains.stop(vm.id);
}

VmChange World::change(const TestVm& vm, std::int32_t from, std::int32_t to) const {
  using Thread = PinChange::Thread;
  return {.vm = vm.id,
          .vm_name = vm.name,
          .process = vm.process,
          .domain_id = vm.domain_id,
          .homes = {{0, NodeId{from}, NodeId{to}}},
          .pins = {{Thread::kVcpu, 0, cpus_of(from), cpus_of(to)},
                   {Thread::kVcpu, 1, cpus_of(from), cpus_of(to)},
                   {Thread::kEmulator, 0, cpus_of(from), cpus_of(to)},
                   {Thread::kIoThread, 1, cpus_of(from), cpus_of(to)}},
          .memory = {.quotas = {{NodeId{to}, kGiB}},
                     .cells = {},
                     .allowed_before = {},
                     .allowed_after = {}},
          .memory_mode = MemoryMode::kSoft};
}

Order World::order(std::int64_t action, std::vector<VmChange> changes) {
  return {.action = action,
          .epoch = 1,
          .reason = changes.size() == 1 ? Reason::kLoadMove : Reason::kLoadSwap,
          .changes = std::move(changes),
          .predicted = {.lost_before = {1000}}};
}

std::vector<ActionEvent> World::run(const std::function<bool()>& until) {
  std::vector<ActionEvent> events;
  for (int steps = 0; !until(); ++steps) {
    if (steps > 100'000) {
      ADD_FAILURE() << "it does not end";
      break;
    }
    const int calls_before = faults.calls();
    ExecutorStep step = executor_->step(now_);
    EXPECT_LE(faults.calls() - calls_before, 1) << "more than one call in a step";
    events.insert(events.end(), step.events.begin(), step.events.end());
    if (!step.next_at) {
      break;
    }
    EXPECT_GE(*step.next_at, now_);
    now_ = *step.next_at;
  }
  return events;
}

void World::restart() {
  executor_ = std::make_unique<Executor>(*ports_, *ports_, *ports_, limits_);
  const auto open = journal.open_actions();
  ASSERT_TRUE(open);
  executor_->recover(*open, now_);
}

void World::set_limits(const Limits& limits) {
  limits_ = limits;
  executor_->set_limits(limits);
}

std::optional<VmDescription> World::running(const VmId& vm) {
  const auto all = domains.refresh();
  if (!all) {
    return std::nullopt;
  }
  const auto found = std::find_if(all->begin(), all->end(), [&](const VmDescription& description) {
    return description.id == vm;
  });
  return found == all->end() ? std::nullopt : std::optional(*found);
}

std::int32_t World::home(const TestVm& vm) {
  const auto description = running(vm.id);
  if (!description) {
    return -1;
  }
  for (const std::int32_t node : {0, 1}) {
    const auto there = [&](const Pin& pin) { return pin.cpus == cpus_of(node); };
    if (description->vcpu_pins.size() == 2 && description->io_thread_pins.size() == 1 &&
        std::all_of(description->vcpu_pins.begin(), description->vcpu_pins.end(), there) &&
        std::all_of(description->io_thread_pins.begin(), description->io_thread_pins.end(),
                    there) &&
        description->emulator_pin == cpus_of(node)) {
      return node;
    }
  }
  return -1;
}

ActionEvent finished(const std::vector<ActionEvent>& events, std::int64_t action) {
  std::vector<ActionEvent> found;
  for (const ActionEvent& event : events) {
    if (event.kind == ActionEvent::Kind::kFinished && event.action == action) {
      found.push_back(event);
    }
  }
  EXPECT_EQ(found.size(), 1U) << "of action " << action;
  return found.empty() ? ActionEvent{} : found.front();
}

}  // namespace vmnuma::migration
