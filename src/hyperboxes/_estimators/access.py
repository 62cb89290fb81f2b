"""`Access`: many threads read an estimator at once, or one thread changes it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from threading import Condition, RLock, get_ident
from typing import Any, TypeVar, cast
from weakref import ref

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Access(AbstractContextManager[None]):
    """A lock of an estimator.

    A thread that changes the estimator holds `turn` all the time, and others that read it hold
    `turn` only to begin and to end. Reading a single sample is so short that it holds `turn` too.
    """

    def __init__(self) -> None:
        self.turn = RLock()
        self._left = Condition(self.turn)
        self._users: dict[int, int] = {}  # threads, and how often each has entered
        self._n_waiting = 0

    def reading(self) -> AbstractContextManager[None]:
        """Let other threads read as well, but none change the estimator; those that wait go first.

        A thread that has entered may enter again.
        """
        return self

    def __enter__(self) -> None:
        try:
            with self.turn:
                if self._n_waiting and get_ident() not in self._users:
                    self._left.wait_for(lambda: not self._n_waiting)
                self._enter()
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        with self.turn:
            self._leave()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let no other thread read or change the estimator."""
        with self.turn:
            self.wait_for_readers()
            self._enter()
            try:
                yield
            finally:
                self._leave()

    def wait_for_readers(self) -> None:
        """Wait until no other thread reads, with `turn` held before and after."""
        if self._users:
            own = {get_ident()}
            self._n_waiting += 1
            try:
                self._left.wait_for(lambda: self._users.keys() <= own)
            finally:
                self._n_waiting -= 1
                self._left.notify_all()

    def _enter(self) -> None:
        thread = get_ident()
        self._users[thread] = self._users.get(thread, 0) + 1

    def _leave(self) -> None:
        depth = self._users.pop(get_ident(), 0)  # 0 after Ctrl-C before it has entered
        if depth > 1:
            self._users[get_ident()] = depth - 1
        if self._n_waiting:
            self._left.notify_all()


# By estimator. It is no attribute, since copies and files of an estimator do not share it.
_LOCKS: dict[ref[Any], Access] = {}


def access_of(estimator: Any) -> Access:
    """Return the lock of an estimator."""
    access = _LOCKS.get(ref(estimator))
    if access is None:
        access = _LOCKS.setdefault(ref(estimator, lambda dead: _LOCKS.pop(dead, None)), Access())
    return access


def _holding(
    enter: Callable[[Access], AbstractContextManager[None]],
) -> Callable[[_Method], _Method]:
    """Return a decorator of methods that hold the lock of their estimator."""

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def call(self: Any, *args: Any, **options: Any) -> Any:
            with enter(access_of(self)):
                return method(self, *args, **options)

        return cast(_Method, call)

    return decorate


# Decorators of methods that read the fitted model, and of methods that learn.
reads = _holding(Access.reading)
changes = _holding(Access.changing)
