// SPDX-License-Identifier: Apache-2.0
/// Whether a test runs under a sanitizer that has an allocator of its own: it keeps freed memory
/// back, so what is resident says nothing, and it ends the program where there is no memory.
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
