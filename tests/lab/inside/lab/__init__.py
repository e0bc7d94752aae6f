# SPDX-License-Identifier: Apache-2.0
"""What scenarios use to drive the machine: guests, the daemon, and waiting."""
