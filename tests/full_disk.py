"""A disk that takes nothing more, as this process sees it."""

import contextlib
from collections.abc import Iterator

with contextlib.suppress(
    ImportError
):  # Windows has no such limits: the tests that need one are left out there
    import resource


@contextlib.contextmanager
def no_room(size: int = 0) -> Iterator[None]:
    """No file grows beyond that many bytes meanwhile: what is in it can be overwritten."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
