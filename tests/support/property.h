// SPDX-License-Identifier: Apache-2.0
/// Property tests with rapidcheck, the one way in. CTest runs them on the same cases every time
/// (VMNUMA_PROPERTY_SEED); a test program of its own takes new ones, and RC_PARAMS
/// ("max_success=100000", or "reproduce=..." as a failing property prints it) from the environment.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
