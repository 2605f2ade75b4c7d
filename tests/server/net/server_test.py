#!/usr/bin/env python3
"""tickwheeld as a process: starting, addresses, service managers, signals, and
clients that behave well or badly.

usage: server_test.py BINARY [TEST...]
"""
import os
import sys
import unittest

import harness
from client_cases import BadClients, Connections, Crowds
from start_cases import Addresses, Managers, Signals

__all__ = ["Addresses", "BadClients", "Connections", "Crowds", "Managers",
           "Signals"]

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    harness.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
