# SPDX-License-Identifier: Apache-2.0
"""What must hold on the lab's machine; one module each. See ../main.py."""
