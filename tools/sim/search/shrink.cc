// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/search/shrink.h"

#include <algorithm>
#include <utility>

#include "tools/sim/search/features.h"
#include "tools/sim/search/generator.h"

namespace vmnuma::tools {

namespace {

/// A minute: what is lost only until the balancer knows the host is not a weakness.
constexpr std::int64_t kFewestShrunkEpochs = 30;

void remove_vm(Scenario& scenario, std::size_t vm) {
  const auto lower = [vm](std::size_t& index) { index -= index > vm ? 1 : 0; };
  scenario.vms.erase(scenario.vms.begin() + static_cast<std::ptrdiff_t>(vm));
  std::erase_if(scenario.faults, [vm](const Fault& fault) { return fault.vm == vm; });
  for (Fault& fault : scenario.faults) {
    if (fault.vm) {
      lower(*fault.vm);
    }
  }
  std::erase_if(scenario.talks, [vm](const ScenarioTalk& talk) {
    return std::ranges::find(talk.vms, vm) != talk.vms.end();
  });
  for (ScenarioTalk& talk : scenario.talks) {
    std::ranges::for_each(talk.vms, lower);
  }
}

/// Removes a node; the others keep their numbers.
void remove_node(Scenario& scenario, std::size_t node) {
  ScenarioHost& host = scenario.host;
  const std::size_t count = host.nodes.size();
  std::vector<std::int32_t> distances;
  for (std::size_t i = 0; i < host.distances.size(); ++i) {
    if (i / count != node && i % count != node) {
      distances.push_back(host.distances[i]);
    }
  }
  host.distances = std::move(distances);
  host.firmware_distances.clear();
  host.nodes.erase(host.nodes.begin() + static_cast<std::ptrdiff_t>(node));
}

class Shrinker {
 public:
  Shrinker(Scenario scenario, std::int64_t tries, const std::function<bool(const Scenario&)>& shows)
      : scenario_(std::move(scenario)), tries_(tries), shows_(shows) {}

  Scenario shrink() {
    do {
      changed_ = false;
      drop_vms();
      drop_nodes();
      shorten();
      drop_features();
      simplify();
    } while (changed_ && tries_ > 0);
    return std::move(scenario_);
  }

 private:
  template <class Change>
  bool attempt(const Change& change) {
    if (tries_ <= 0) {
      return false;
    }
    Scenario smaller = scenario_;
    change(smaller);
    repair(smaller);
    if (smaller == scenario_ || --tries_ < 0 || !shows_(smaller)) {
      return false;
    }
    scenario_ = std::move(smaller);
    changed_ = true;
    return true;
  }

  /// Drops VMs, first many at once.
  void drop_vms() {
    for (std::size_t some = scenario_.vms.size() / 2; some > 0; some /= 2) {
      for (std::size_t end = scenario_.vms.size(); end >= some; end -= some) {
        if (scenario_.vms.size() > some) {
          attempt([&](Scenario& scenario) {
            for (std::size_t i = 0; i < some; ++i) {
              remove_vm(scenario, end - 1 - i);
            }
          });
        }
      }
    }
  }

  void drop_nodes() {
    while (scenario_.host.nodes.size() > 3 && attempt([](Scenario& scenario) {
             const std::size_t half = scenario.host.nodes.size() / 2;
             while (scenario.host.nodes.size() > half) {
               remove_node(scenario, scenario.host.nodes.size() - 1);
             }
           })) {
    }
    for (std::size_t node = scenario_.host.nodes.size(); node-- > 0;) {
      if (scenario_.host.nodes.size() > 1) {
        attempt([&](Scenario& scenario) { remove_node(scenario, node); });
      }
    }
  }

  void shorten() {
    while (scenario_.epochs / 2 >= kFewestShrunkEpochs &&
           attempt([](Scenario& scenario) { scenario.epochs /= 2; })) {
    }
    attempt([](Scenario& scenario) {
      scenario.epochs = std::max(scenario.epochs * 3 / 4, kFewestShrunkEpochs);
    });
  }

  void drop_features() {
    for (const Feature& feature : features()) {
      if (has_feature(scenario_, feature)) {
        attempt(feature.take_away);
      }
    }
  }

  void simplify() {
    attempt([](Scenario& scenario) { scenario.seed = 1; });
    attempt([](Scenario& scenario) {
      for (ScenarioVm& vm : scenario.vms) {
        vm = ScenarioVm(scenario.vms.front());
      }
    });
    for (std::size_t vm = 0; vm < scenario_.vms.size(); ++vm) {
      attempt([&](Scenario& scenario) {
        ScenarioVm& one = scenario.vms[vm];
        one.memory = kGiB * std::max<std::int64_t>(one.memory.value >> 30U, 1);
      });
      attempt([&](Scenario& scenario) { scenario.vms[vm].vcpus /= 2; });
      attempt([&](Scenario& scenario) {
        for (LoadStep& step : scenario.vms[vm].load) {
          step.pct = step.pct >= 50 ? 100 : 0;
        }
      });
    }
  }

  Scenario scenario_;
  std::int64_t tries_;
  const std::function<bool(const Scenario&)>& shows_;
  bool changed_ = false;
};

}  // namespace

Scenario shrunk(Scenario scenario, std::int64_t tries,
                const std::function<bool(const Scenario&)>& shows) {
  return Shrinker(std::move(scenario), tries, shows).shrink();
}

}  // namespace vmnuma::tools
