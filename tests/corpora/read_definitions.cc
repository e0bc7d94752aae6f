// SPDX-License-Identifier: Apache-2.0
// Prints a line for each file of domain XML: what the parser of definitions and the hook make of
// it.
//
// usage: vmnuma_read_definitions ROOT CHANGED FILE...
//
//   ROOT      root directory of a host, to which the hook fits the XML
//   CHANGED   directory where what the hook gives libvirt is put, as NAME
//
// NAME is the file's with that of its folder. A line is "NAME<tab>WHAT<tab>REASON<tab>MEANING".
// WHAT is "read" or "refused" by the parser; behind "+" comes what the hook did: "same", "changed",
// or "left" where it gave up. MEANING is "equal" or "other" where libvirt's test data has the form
// in which libvirt prints the same definition, by whether both are understood alike. Exit status 1
// if a promise of balancer/host/fit_xml.h or tools/hook/run.h is broken, with a line "broken" that
// says which.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "balancer/host/domain_xml.h"
#include "balancer/host/fit_xml.h"
#include "balancer/host/xml_fields.h"
#include "tools/hook/run.h"

namespace vmnuma {
namespace {

constexpr std::chrono::minutes kNoHurry{1};

/// A host that has whatever an XML can name.
balancer::HostSets host_with_everything() {
  balancer::HostSets host;
  for (std::int32_t cpu = 0; cpu < balancer::kMostCpus; ++cpu) {
    host.cpus.push_back(CpuId{cpu});
  }
  for (std::int32_t node = 0; node < balancer::kMostNodes; ++node) {
    host.memory_nodes.push_back(NodeId{node});
  }
  return host;
}

struct HookRun {
  std::string out;
  std::vector<std::string> reports;
};

HookRun run_hook_on(const std::string& xml, const std::string& root) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
  std::fwrite(xml.data(), 1, xml.size(), input.get());
  std::rewind(input.get());
  std::ostringstream out;
  HookRun run;
  const std::vector<std::string> arguments{"--", "vm", "migrate", "begin", "-"};
  (void)tools::run_hook(arguments, {::fileno(input.get()), out, root,
                                    [&](const std::string& text) { run.reports.push_back(text); },
                                    kNoHurry, /*now_unix_s=*/0});
  run.out = out.str();
  return run;
}

class Reader {
 public:
  Reader(std::string root, std::filesystem::path changed)
      : root_(std::move(root)), changed_(std::move(changed)) {}

  void read(const std::filesystem::path& path) {
    const std::string name = path.parent_path().filename() / path.filename();
    const std::string xml = text_of(path);
    const auto vm = balancer::parse_domain_xml(xml, kMiB * 2);
    const HookRun run = run_hook_on(xml, root_);
    std::string what = vm ? "read" : "refused";
    if (!run.out.empty()) {
      what += "+changed";
      std::filesystem::create_directories((changed_ / name).parent_path());
      std::ofstream(changed_ / name, std::ios::binary) << run.out;
      require(run_hook_on(run.out, root_).out.empty(), name, "a second time changes it again");
      require(!vm || balancer::parse_domain_xml(run.out, kMiB * 2), name,
              "what the hook gives is not understood");
    } else {
      what += run.reports.empty() ? "+same" : "+left";
    }
    const auto fitted = balancer::fit_xml(xml, everything_);
    require(!fitted || !*fitted, name, "it is changed for a host that has all that it names");
    require(fitted.has_value() != (run.out.empty() && !run.reports.empty()), name,
            "the hook and fit_xml disagree");
    const std::string reason = !vm                   ? vm.error().message
                               : run.reports.empty() ? ""
                                                     : run.reports.front();
    fmt::print("{}\t{}\t{}\t{}\n", name, what, reason, vm ? meaning_of(path, *vm) : "");
  }
  [[nodiscard]] bool keeps_promises() const { return keeps_promises_; }

 private:
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// libvirt's tests/qemuxml2argvdata has what people write, qemuxml2xmloutdata what it prints.
  static std::string_view meaning_of(const std::filesystem::path& path, const VmDescription& vm) {
    const auto printed = path.parent_path().parent_path() / "qemuxml2xmloutdata" / path.filename();
    if (path.parent_path().filename() != "qemuxml2argvdata" || !std::filesystem::exists(printed)) {
      return "";
    }
    return balancer::parse_domain_xml(text_of(printed), kMiB * 2) == vm ? "equal" : "other";
  }

  void require(bool holds, const std::string& name, std::string_view otherwise) {
    if (!holds) {
      fmt::print("{}\tbroken\t{}\n", name, otherwise);
      keeps_promises_ = false;
    }
  }

  const balancer::HostSets everything_ = host_with_everything();
  const std::string root_;
  const std::filesystem::path changed_;
  bool keeps_promises_ = true;
};

}  // namespace
}  // namespace vmnuma

int main(int count, char** words) {
  if (count < 3) {
    return 2;
  }
  vmnuma::Reader reader(words[1], words[2]);
  for (int at = 3; at < count; ++at) {
    reader.read(words[at]);
  }
  return reader.keeps_promises() ? 0 : 1;
}
