"""Which program is the fleet command."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from solution_fleet.command import words_of
from solution_fleet.errors import CommandNotFound


def package(folder: Path, name: str = "solution-fleet") -> str:
    program = folder / "dist" / "cli" / "main.js"
    program.parent.mkdir(parents=True)
    program.touch()
    (folder / "package.json").write_text(json.dumps({"name": name}))
    return str(program)


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.root = Path(folder.name).resolve()
        self.here = self.root / "project" / "venv" / "solution_fleet"
        self.here.mkdir(parents=True)
        self.patch(mock.patch("solution_fleet.command.__file__", str(self.here / "command.py")))
        self.installed_from(None, self.here)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.node = self.program("node")
        os.chdir(self.bin)
        self.environment({"PATH": str(self.bin)})

    def patch(self, patch: Any) -> None:
        patch.start()
        self.addCleanup(patch.stop)

    def environment(self, variables: dict[str, str]) -> None:
        self.patch(mock.patch.dict(os.environ, variables, clear=True))

    def installed_from(self, how: str | None, folder: Path) -> None:
        record = "{}" if how is None else json.dumps({"url": folder.as_uri(), how: {}})
        distribution = mock.Mock(read_text=mock.Mock(return_value=record))
        self.patch(mock.patch("importlib.metadata.distribution", return_value=distribution))

    def program(self, name: str) -> str:
        path = self.bin / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def test_the_folder_that_it_was_installed_from_comes_first(self) -> None:
        package(self.root / "project" / "node_modules" / "solution-fleet")
        clone = package(self.root / "a clone")
        self.installed_from("dir_info", self.root / "a clone" / "clients" / "python")
        self.assertEqual(words_of(None), [self.node, clone])

    def test_the_folder_of_a_wheel_is_none(self) -> None:
        package(self.root / "downloads")
        self.installed_from("archive_info", self.root / "downloads" / "clients" / "python")
        with self.assertRaises(CommandNotFound):
            words_of(None)

    def test_a_project_with_this_package_in_its_environment_counts(self) -> None:
        program = package(self.root / "project" / "node_modules" / "solution-fleet")
        self.assertEqual(words_of(None), [self.node, program])

    def test_the_working_directory_does_not_count(self) -> None:
        package(self.root / "checkout" / "node_modules" / "solution-fleet")
        package(self.root / "checkout")
        os.chdir(self.root / "checkout")
        with self.assertRaisesRegex(CommandNotFound, r"install the npm package solution-fleet .*FLEET_CLI"):
            words_of(None)

    def test_a_folder_to_which_anybody_may_write_does_not_count(self) -> None:
        package(self.root / "project" / "node_modules" / "solution-fleet")
        far = package(self.root / "node_modules" / "solution-fleet")
        (self.root / "project").chmod(0o777)
        self.assertEqual(words_of(None), [self.node, far])

    def test_a_global_installation_is_found_by_its_link_on_the_path(self) -> None:
        program = package(self.root / "lib" / "node_modules" / "solution-fleet")
        (self.bin / "fleet").symlink_to(program)
        Path(program).chmod(0o755)
        self.assertEqual(words_of(None), [self.node, program])

    def test_another_program_of_that_name_is_not_run(self) -> None:
        self.program("fleet")
        package(self.root / "project" / "node_modules" / "solution-fleet", name="fleet")
        with self.assertRaises(CommandNotFound):
            words_of(None)

    def test_the_caller_comes_before_the_environment_and_that_before_installations(self) -> None:
        package(self.root / "project" / "node_modules" / "solution-fleet")
        named = package(self.root / "named")
        self.environment({"PATH": str(self.bin), "FLEET_CLI": named})
        self.assertEqual(words_of(None), [self.node, named])
        self.assertEqual(words_of(self.program("other")), [str(self.bin / "other")])
        self.assertEqual(words_of(["ssh", "host", "fleet"]), ["ssh", "host", "fleet"])

    def test_a_relative_entry_of_the_path_does_not_count(self) -> None:
        package(self.here)
        os.chdir(self.bin)
        self.environment({"PATH": os.pathsep.join(["", "."])})
        with self.assertRaisesRegex(CommandNotFound, "needs Node.js 20 or later: no node was found on the PATH"):
            words_of(self.here / "dist" / "cli" / "main.js")


if __name__ == "__main__":
    unittest.main()
