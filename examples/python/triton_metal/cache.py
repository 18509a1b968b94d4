"""triton.runtime.cache: files that later processes read again. Results of autotuning use it."""
from __future__ import annotations

import base64
import ctypes
import json
import os
import uuid
from typing import Any, Dict, Optional, Union, cast

from . import knobs


class CacheManager:
    """Base of the classes that TRITON_CACHE_MANAGER may name: files of one key."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key

    def get_file(self, filename: str) -> Optional[str]:
        """The path of a file, or None if there is none of the name."""
        raise NotImplementedError

    def put(self, data: Union[bytes, str], filename: str, binary: bool = True) -> str:
        """Write a file, and return its path."""
        raise NotImplementedError

    def get_group(self, filename: str) -> Optional[Dict[str, str]]:
        """The paths of the files that put_group stored under a name."""
        raise NotImplementedError

    def put_group(self, filename: str, group: Dict[str, str]) -> str:
        """Store the paths of several files under one name."""
        raise NotImplementedError


class FileCacheManager(CacheManager):
    """Files in a folder named after the key, below knobs.cache.dir."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        super().__init__(key, override, dump)
        folder = (knobs.cache.dump_dir if dump else
                  knobs.cache.override_dir if override else knobs.cache.dir)
        if not folder:
            raise RuntimeError("no folder for the cache: TRITON_METAL_CACHE is 0")
        self.cache_dir = os.path.join(folder, key)
        self.lock_path = None if override else os.path.join(self.cache_dir, "lock")
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        """Whether the file exists."""
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename: str) -> Optional[str]:
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data: Union[bytes, str], filename: str, binary: bool = True) -> str:
        """Write a file atomically: a reader sees all of it or none."""
        path = self._make_path(filename)
        temporary = f"{path}.{os.getpid()}.{uuid.uuid4().hex}"
        with open(temporary, "wb") as file:
            file.write(data if isinstance(data, bytes) else str(data).encode())
        os.replace(temporary, path)
        return path

    def get_group(self, filename: str) -> Optional[Dict[str, str]]:
        path = self.get_file(f"__grp__{filename}")
        paths = None if path is None else read_json(path)
        children = paths.get("child_paths") if isinstance(paths, dict) else None
        if not isinstance(children, dict) or not all(map(os.path.exists, children.values())):
            return None
        return cast(Dict[str, str], children)

    def put_group(self, filename: str, group: Dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def read_json(path: str) -> Any:
    """What a file holds; None if it cannot be read or is damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _manager(key: str, **where: bool) -> CacheManager:
    folder = base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
    kind = knobs.cache.manager_class or FileCacheManager
    return cast(CacheManager, kind(folder, **where))


def get_cache_manager(key: str) -> CacheManager:
    """The files of a key, which is a hash in hexadecimal."""
    return _manager(key)


def get_dump_manager(key: str) -> CacheManager:
    """The same in the folder of dumps."""
    return _manager(key, dump=True)


def get_override_manager(key: str) -> CacheManager:
    """The same in the folder of overrides."""
    return _manager(key, override=True)


def triton_key() -> str:
    """A text that differs between versions of the compiler: tmetal_key of an empty module."""
    from . import library
    key = ctypes.create_string_buffer(65)
    function = library.load().tmetal_key
    function.restype, function.argtypes = None, [ctypes.c_char_p, ctypes.c_size_t,
                                                 ctypes.c_void_p, ctypes.c_char_p]
    function(b"", 0, None, key)
    return "tmetal-" + key.value.decode()
