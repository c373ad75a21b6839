"""The package for asyncio.

>>> result = await aio.check(Path("solution.py"))
"""

from .local_check import check, check_file, check_files

__all__ = ["check", "check_file", "check_files"]
