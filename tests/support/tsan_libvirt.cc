// SPDX-License-Identifier: Apache-2.0
/// For tests that call libvirt under ThreadSanitizer, which cannot see all of how Debian's
/// libraries, not built for it, keep order among threads:
/// - GLib's locks are futexes of its own, so its memory looks shared without any;
/// - libtirpc writes constant padding to one static buffer from all threads;
/// - libvirt frees objects, and the mutex in them, when an atomic count of GLib's says so.

extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:libglib-2.0.so\n"
         "race:libtirpc.so\n"
         "race_top:pthread_mutex_destroy\n";
}
