"""triton.runtime.cache: files that later processes read again. Results of autotuning use it."""
from __future__ import annotations

import base64
import ctypes
import os
from typing import Any, Optional, Union

from . import knobs, library


class CacheManager:
    """Base of the classes that TRITON_CACHE_MANAGER may name: the files of one key."""


class FileCacheManager(CacheManager):
    """Files in a folder named after the key, in knobs.cache.dir."""

    def __init__(self, key: str) -> None:
        if os.environ.get("TRITON_METAL_CACHE") == "0":
            raise RuntimeError("there is no folder for the cache while TRITON_METAL_CACHE is 0")
        self.key = key
        self.cache_dir = os.path.join(knobs.cache.dir, key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        os.makedirs(self.cache_dir, exist_ok=True)

    def get_file(self, filename: str) -> Optional[str]:
        """The path of a file, or None if there is none of the name."""
        path = os.path.join(self.cache_dir, filename)
        return path if os.path.exists(path) else None

    def put(self, data: Union[bytes, str], filename: str, binary: bool = True) -> str:
        """Write a file atomically, so that a reader sees all of it or none, and return its path."""
        path = os.path.join(self.cache_dir, filename)
        temporary = f"{path}.{os.getpid()}.{os.urandom(8).hex()}"
        with open(temporary, "wb") as file:
            file.write(data if isinstance(data, bytes) else str(data).encode())
        os.replace(temporary, path)
        return path


def get_cache_manager(key: str) -> Any:
    """The files of a key, which is a hash in hexadecimal."""
    folder = base64.b32encode(bytes.fromhex(key)).decode().rstrip("=")
    return (knobs.cache.manager_class or FileCacheManager)(folder)


def triton_key() -> str:
    """A text that differs between versions of the compiler: tmetal_key of an empty module."""
    key = ctypes.create_string_buffer(65)
    library.load().tmetal_key(b"", 0, None, key)
    return "tmetal-" + key.value.decode()
