# SPDX-License-Identifier: Apache-2.0
"""What scenarios use to control the machine: guests, the daemon, and waiting for conditions."""
