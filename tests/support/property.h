// SPDX-License-Identifier: Apache-2.0
/// Property tests with rapidcheck, the one way in. A failing property prints how to reproduce it;
/// set RC_PARAMS
/// ("seed=...") in the environment to do so.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
