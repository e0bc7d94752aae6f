// SPDX-License-Identifier: Apache-2.0
/// Includes rapidcheck for property tests; all of them use this header. CTest runs properties on
/// the same cases every time (VMNUMA_PROPERTY_SEED). A test program run by hand uses new cases, and
/// RC_PARAMS from the environment ("max_success=100000", or "reproduce=..." as a failing property
/// prints it).
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
