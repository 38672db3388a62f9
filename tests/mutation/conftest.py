"""Lets what lies here be imported by its name, as it is when `mutate.py` is started."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
