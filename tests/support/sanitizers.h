// SPDX-License-Identifier: Apache-2.0
/// Tells whether a test runs under a sanitizer with its own allocator, which keeps freed memory, so
/// that the resident size means nothing, and which ends the program if there is no memory.
#pragma once

namespace vmnuma::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
constexpr bool kUnderSanitizer = true;
#elif defined(__has_feature)  // clang
constexpr bool kUnderSanitizer =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kUnderSanitizer = false;
#endif

}  // namespace vmnuma::tests
