# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# The program gets this module's namespace, emptied: nothing may follow.
import sfjit._launch

sfjit._launch.main()
