// SPDX-License-Identifier: Apache-2.0
/// The ports through which an order is carried out.
#pragma once

#include "migration/domain_control.h"
#include "migration/journal.h"
#include "migration/page_mover.h"

namespace vmnuma::migration {

struct Ports {
  DomainControl& control;
  PageMover& mover;
  Journal& journal;
};

}  // namespace vmnuma::migration
