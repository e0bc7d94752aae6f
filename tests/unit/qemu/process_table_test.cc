// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/process_table.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "balancer/qemu/threads.h"
#include "tests/support/fake_host.h"

namespace vmnuma::balancer::qemu {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ProcessTableTest : public testing::Test {
 protected:
  ProcessTableTest() { host_.write("proc/uptime", "1000.25 5000.00\n"); }

  void run(std::int64_t pid, const std::string& cmdline, std::int64_t started_s, char state = 'S') {
    const std::string directory = "proc/" + std::to_string(pid) + "/";
    host_.write(directory + "cmdline", cmdline);
    host_.write(directory + "stat",
                std::to_string(pid) + " (x) " + state + " 1 1 1 0 -1 0 1 0 0 0 5 6 0 0 20 0 4 0 " +
                    std::to_string(started_s * ::sysconf(_SC_CLK_TCK)) + " 0 0\n");
  }
  std::vector<std::int64_t> look(HowThorough how = HowThorough::kQuick,
                                 const std::set<std::int64_t>& known = {}) {
    const auto found = table_.look(how, known);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    std::vector<std::int64_t> pids;
    for (const FoundProcess& process : found.value_or(std::vector<FoundProcess>{})) {
      pids.push_back(process.process.pid);
    }
    return pids;
  }

  const std::string kQemu = "/usr/bin/qemu-system-x86_64\0-S\0"s;
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
  ProcessTable table_{root_};
};

TEST_F(ProcessTableTest, TellsOfQemuAndOfNothingElse) {
  run(10, "bash\0"s, 1);
  run(20, kQemu, 900);
  run(30, "", 1);
  run(40, kQemu, 990, 'Z');
  host_.write("proc/self/cmdline", kQemu);
  const auto found = table_.look(HowThorough::kQuick, {}).value();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].process.pid, 20);
  EXPECT_EQ(found[0].cmdline, kQemu);
  EXPECT_EQ(found[0].age_s, 100);
}

TEST_F(ProcessTableTest, TellsAgainUntilTheCallerKnowsOrIgnoresIt) {
  run(20, kQemu, 900);
  run(21, kQemu, 900);
  EXPECT_THAT(look(), ElementsAre(20, 21));
  EXPECT_THAT(look(HowThorough::kQuick, {20}), ElementsAre(21));
  table_.ignore(21);
  EXPECT_THAT(look(HowThorough::kThorough), ElementsAre(20));
}

TEST_F(ProcessTableTest, AYoungProcessMayBecomeQemu) {
  run(10, "perl\0"s, 995);
  EXPECT_THAT(look(), IsEmpty());
  run(10, kQemu, 995);
  EXPECT_THAT(look(), ElementsAre(10));
}

TEST_F(ProcessTableTest, AnOldProcessThatBecomesQemuIsFoundByAThoroughLook) {
  run(10, "bash\0"s, 100);
  EXPECT_THAT(look(), IsEmpty());
  run(10, kQemu, 100);
  EXPECT_THAT(look(), IsEmpty());
  EXPECT_THAT(look(HowThorough::kThorough), ElementsAre(10));
}

TEST_F(ProcessTableTest, AnotherProcessOfAnOldNumberIsReadAgain) {
  run(10, "bash\0"s, 100);
  run(11, kQemu, 100);
  table_.ignore(11);
  EXPECT_THAT(look(), IsEmpty());
  // Other directories have other inodes as long as the old ones are there.
  host_.rename("proc/10", "gone10");
  host_.rename("proc/11", "gone11");
  run(10, kQemu, 990);
  run(11, kQemu, 990);
  EXPECT_THAT(look(), ElementsAre(10, 11));
}

TEST_F(ProcessTableTest, AHostWithoutProcIsAnError) {
  host_.remove("proc");
  EXPECT_FALSE(table_.look(HowThorough::kQuick, {}).has_value());
}

class ThreadsTest : public testing::Test {
 protected:
  void add(std::int64_t tid, const std::string& comm) {
    host_.write("task/" + std::to_string(tid) + "/comm", comm + "\n");
  }
  tests::FakeHost host_;
  files::Directory process_ = files::Directory::open(host_.path()).value();
};

TEST_F(ThreadsTest, EveryThreadHasOneRole) {
  add(100, "qemu-system-x86");
  add(101, "call_rcu");
  add(104, "CPU 1/KVM");
  add(103, "CPU 0/KVM");
  add(105, "IO iothread0");
  add(106, "vhost-100");
  const Threads threads = read_threads(process_, {"iothread0"}).value();
  EXPECT_THAT(threads.vcpus, ElementsAre(stats::VcpuThread{0, 103}, stats::VcpuThread{1, 104}));
  EXPECT_THAT(threads.io_threads, ElementsAre(IoThread{1, 105}));
  EXPECT_THAT(threads.emulator, ElementsAre(100, 101, 106));
}

TEST_F(ThreadsTest, IoThreadsWhoseNamesTheKernelCutAreToldApartByTheirOrder) {
  add(100, "kvm");
  add(103, "IO iothread-vir");
  add(102, "IO iothread-vir");
  const Threads threads =
      read_threads(process_, {"iothread-virtioscsi0", "iothread-virtioscsi1"}).value();
  EXPECT_THAT(threads.io_threads, ElementsAre(IoThread{1, 102}, IoThread{2, 103}));
}

TEST_F(ThreadsTest, AnIoThreadThatIsNotThereIsLeftOut) {
  add(100, "kvm");
  add(103, "IO b");
  EXPECT_THAT(read_threads(process_, {"a", "b"}).value().io_threads, ElementsAre(IoThread{2, 103}));
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
