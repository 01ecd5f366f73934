# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Description: python3 -m sfjit runs programs as python3 does, and gives each
function its name. Run with PYTHONPATH naming the package."""

import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import zipfile

sys.path.append(sys.path[0] + "/../../lib")

from tap import check, finish

work = tempfile.mkdtemp()
environment = dict(os.environ)


def report(name, problem):
    check(f"python: {name}", not problem, problem)


def python(arguments, options=(), stdin="", cwd=None, sfjit=False):
    command = [sys.executable, *options]
    if sfjit:
        command += ["-m", "sfjit"]
    with subprocess.Popen(
        command + arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd or work,
        env=environment,
    ) as process:
        stdout, stderr = process.communicate(stdin, timeout=600)
    remove(f"/tmp/perf-{process.pid}.map")
    return subprocess.CompletedProcess(
        command, process.returncode, stdout, stderr
    )


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def same(name, arguments, expect=None, **kwargs):
    """The same output, errors and status; status is as expected."""
    plain = python(arguments, **kwargs)
    ours = python(arguments, sfjit=True, **kwargs)
    for what in ("returncode", "stdout", "stderr"):
        a, b = getattr(plain, what), getattr(ours, what)
        if a != b:
            report(name, f"{what} is {b!r}, not {a!r}")
            return
    if expect is not None and ours.returncode != expect:
        report(name, f"status {ours.returncode}, not {expect}: {ours.stderr}")
        return
    report(name, None)


def script(text, name="program.py"):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(textwrap.dedent(text))
    return path


def prints(name, text, want, options=()):
    """A program under sfjit prints this."""
    ours = python([script(text)], sfjit=True, options=options)
    got = ours.stdout.strip()
    problem = f"{got!r}, not {want!r}; {ours.stderr}" if got != want else None
    report(name, problem)


SURROUNDINGS = """
    import os, sys
    print(sorted(globals()), __package__, __loader__.__class__)
    print(__name__, __file__, __spec__ and (__spec__.name, __spec__.origin))
    caller = sys._getframe(0).f_back
    print(sys.argv, sys.path[0], caller and caller.f_code.co_name)
    print(sys.modules["__main__"].__dict__ is globals())
    print(sorted(os.listdir("/proc/self/fd")), sys.stdin.read())
"""

FAILURE = """
    import sys
    def fail(): raise ValueError("bad")
    def outer():
        try:
            fail()
        except ValueError as e:
            raise KeyError(2) from e
    outer()
"""

PROGRAM = """
    import asyncio, atexit, collections, functools, gc, json, os, pickle, re
    import signal, sqlite3, threading, time, types, warnings, weakref, zlib

    class Point(collections.namedtuple("Point", "x y")):
        def __add__(self, other):
            return Point(self.x + other.x, self.y + other.y)

    def count(n):
        got = 0
        try:
            for i in range(n):
                got += (yield i) or 0
        except GeneratorExit:
            print("closed", got)
            raise
        except KeyError as e:
            yield e.args

    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    async def gather():
        return await asyncio.gather(*(double(i) for i in range(20)))

    @functools.lru_cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def deep(n):
        return n and 1 + deep(n - 1)

    def thread(out, i):
        out[i] = sum(count(1000))

    g = count(10)
    next(g), g.send(5)
    g.close()
    g = count(3)
    next(g)
    print(g.throw(KeyError("thrown")))
    print(asyncio.run(gather()), fib(60), deep(300))
    print(pickle.loads(pickle.dumps(Point(1, 2))) + Point(3, 4))
    out = {}
    threads = [threading.Thread(target=thread, args=(out, i)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(sorted(out.items()))
    db = sqlite3.connect(":memory:")
    db.create_function("twice", 1, lambda x: 2 * x)
    print(db.execute("select twice(21)").fetchone())
    print(re.sub("b+", lambda m: m[0].upper(), "abbcb"))
    print(json.dumps([1, {"a": None}], default=str), zlib.crc32(b"x"))
    ref = weakref.ref(deep)
    del deep
    gc.collect()
    print(ref())
    try:
        (lambda f: f(f))(lambda f: f(f))
    except RecursionError as e:
        print(e)
    rung = []
    signal.signal(signal.SIGALRM,
                  lambda *a: rung.append(1) or print("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not rung:
        time.sleep(0.01)
    warnings.warn("careful")
    sys_frames = __import__("sys")._current_frames()
    print(len(sys_frames), __import__("inspect").stack()[0].function)
    atexit.register(lambda: print("at exit", fib(10)))
    threading.Thread(target=lambda: (time.sleep(0.1), print("late"))).start()
"""

TRACE = """
    import sys
    lines = []
    def tracer(frame, event, arg):
        lines.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer
    def traced(x):
        return [i for i in range(x)]
    sys.settrace(tracer)
    traced(2)
    sys.settrace(None)
    calls = []
    m = sys.monitoring
    m.use_tool_id(3, "test")
    m.register_callback(3, m.events.PY_START, lambda c, o: calls.append(c.co_name))
    m.set_events(3, m.events.PY_START)
    traced(1)
    m.set_events(3, 0)
    print(lines, calls)
"""

FORK = """
    import multiprocessing, os, sys
    def in_child():
        os._exit(3)
    def square(x):
        return x * x
    # Spawned workers run this file too, under another name.
    if __name__ == "__main__":
        pid = os.fork()
        if not pid:
            in_child()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(status, flush=True)
        for how in ("fork", "spawn"):
            with multiprocessing.get_context(how).Pool(2) as pool:
                print(pool.map(square, range(5)), flush=True)
"""


def running():
    path = script(SURROUNDINGS)
    same("surroundings", [path, "a", "-m", "b c"], 0, stdin="input")
    same("surroundings, relative path", ["program.py"], 0)
    same("surroundings, -P", ["program.py"], 0, options=["-P"])
    same("standard library", [script(PROGRAM)], 0)
    same("traceback", [script(FAILURE)], 1)
    same("syntax error", [script("def f(:\n")], 1)
    same("tracing", [script(TRACE)], 0)
    same("fork", [script(FORK)], 0)
    same("no such file", [os.path.join(work, "none.py")], 2)
    same("exit status", [script("raise SystemExit(7)")], 7)
    same("exit message", [script("import sys; sys.exit('why')")], 1)
    same("exit without status", [script("raise SystemExit")], 0)
    interrupt = "import os; os.kill(os.getpid(), 2); import time; time.sleep(5)"
    same("interrupted", [script(interrupt)], -signal.SIGINT)
    same("killed", [script("import os; os.abort()")], -signal.SIGABRT)


def other_forms():
    command = "import sys; print(sys.argv, sys.path[0], sorted(globals()))"
    same("-c", ["-c", command, "x"], 0)
    same("-c with a traceback", ["-c", "def f():\n  1/0\nf()"], 1)
    same("-c interrupted", ["-c", "raise KeyboardInterrupt"], -signal.SIGINT)
    script(SURROUNDINGS, "package/__main__.py")
    script("", "package/__init__.py")
    same("-m package", ["-m", "package", "y"], 0)
    same("-m with a traceback", ["-m", "json.tool", "/none"], None)
    same("-m of no module", ["-m", "no.such.module"], 1)
    script("import sys; print(sys.argv, sys.path[0])", "folder/__main__.py")
    same("directory", ["folder"], 0)
    # The clock of a guest may have begun in 1970.
    with zipfile.ZipFile(
        os.path.join(work, "archive.zip"), "w", strict_timestamps=False
    ) as z:
        z.write(os.path.join(work, "folder/__main__.py"), "__main__.py")
    same("zip file", ["archive.zip", "z"], 0)
    same("compiled file", [compiled("print(__file__, __cached__)")], 0)


def compiled(text):
    import py_compile

    return py_compile.compile(script(text, "c.py"), os.path.join(work, "c.pyc"))


def usage():
    for arguments in ([], ["-c"], ["-m"], ["-x"]):
        ours = python(arguments, sfjit=True)
        wrong = ours.returncode != 2 or "usage:" not in ours.stderr
        report(f"usage {arguments}", ours.stderr if wrong else None)
    ours = python(["-c", "1"], options=["-X", "perf"], sfjit=True)
    # What CPython has no trampoline for ignores the option.
    has_perf = sysconfig.get_config_var("PY_HAVE_PERF_TRAMPOLINE")
    want = (1, "sfjit: another frame evaluator is installed\n") \
        if has_perf else (0, "")
    got = (ours.returncode, ours.stderr)
    report("next to -X perf", None if got == want else repr(got))


NAMES = """
    import os, sys
    class Class:
        def method(self):
            def inner():
                return 1
            return inner()
    exec(compile("def gr\\u00fc\\u00df(): pass\\ngr\\u00fc\\u00df()", "\\udcff.py", "exec"))
    Class().method()
    with open(f"/tmp/perf-{os.getpid()}.map", errors="replace") as f:
        names = [line.split(" ", 2)[2].strip() for line in f]
    os.unlink(f"/tmp/perf-{os.getpid()}.map")
    here = __file__
    for name in (f"py::Class.method:{here}", f"py::<module>:{here}",
                 f"py::Class.method.<locals>.inner:{here}",
                 "py::gr\\u00fc\\u00df:\\\\udcff.py"):
        assert names.count(name) == 1, (name, names[-5:])
    print("good")
"""

FREED = """
    import gc, sfjit
    def round(n):
        for i in range(n):
            names = {}
            exec(f"def f{i % 7}_{n}(): return {i}", names)
            assert names[f"f{i % 7}_{n}"]() == i
            del names
        gc.collect()
    round(10)
    before = sfjit.stat()
    round(20000)
    after = sfjit.stat()
    print(after["used"] - before["used"], after["windows"] - before["windows"],
          after["error"])
"""

CHILD_NAMES = """
    import os
    def function_of_parent(): pass
    function_of_parent()
    pid = os.fork()
    path = f"/tmp/perf-{pid or os.getpid()}.map"
    if not pid:
        os._exit(0 if "py::function_of_parent" in open(path).read() else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.unlink(path)
"""

INSTALL = """
    import sfjit
    def f(): pass
    def g(): pass
    sfjit.install()
    f()
    a = sfjit.stat()["used"]
    sfjit.uninstall()
    sfjit.uninstall()
    g()
    b = sfjit.stat()["used"]
    sfjit.install()
    g()
    print(b - a, sfjit.stat()["used"] - b)
"""

SUBINTERPRETER = """
    import gc, sfjit, sys, _interpreters
    run = "import sfjit; sfjit.install(); f()"
    before = sfjit.stat()["used"]
    for config in "isolated", "legacy":
        one = _interpreters.create(config)
        assert not _interpreters.exec(one, "def f(): return 1")
        used = sfjit.stat()["used"]
        assert not _interpreters.exec(one, run)
        assert not _interpreters.exec(one, run + "; sfjit.uninstall()")
        print(sfjit.stat()["used"] > used)
        _interpreters.destroy(one)
        gc.collect()
    print(sfjit.stat()["used"] - before)
"""

# Two interpreters with a lock each, that are made and destroyed meanwhile.
INTERPRETERS = """
    import threading, sfjit, _interpreters
    work = (
        "import sfjit; sfjit.install()\\n"
        "def depth(n): return n and 1 + depth(n - 1)\\n"
        "for i in range(200):\\n"
        "    names = {}\\n"
        "    exec('def f(n): return n', names)\\n"
        "    assert names['f'](depth(20)) == 20\\n"
    )
    bad = []
    def run():
        for i in range(4):
            one = _interpreters.create("isolated")
            bad.append(_interpreters.exec(one, work))
            _interpreters.destroy(one)
    threads = [threading.Thread(target=run) for i in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(any(bad), sfjit.stat()["error"])
"""

# On s390x CPython 3.13 goes 800 calls of C deep, on others 10,000.
DEPTH = 300 if platform.machine() == "s390x" else 4000

DEEP = f"""
    import sys, threading
    sys.setrecursionlimit(9000)
    def deep(n):
        return n and 1 + deep(n - 1)
    print(deep({DEPTH}))
    t = threading.Thread(target=lambda: print(deep({DEPTH})))
    t.start()
    t.join()
"""


def client():
    prints("names", NAMES, "good")
    prints("trampolines of freed functions", FREED, "0 0 0")
    prints("names in a child", CHILD_NAMES, "0")
    prints("install and uninstall", INSTALL, "0 1")
    prints("subinterpreter", SUBINTERPRETER, "True\nTrue\n0")
    prints("two interpreters at a time", INTERPRETERS, "False 0")
    prints("deep recursion", DEEP, f"{DEPTH}\n{DEPTH}")


running()
other_forms()
usage()
client()
shutil.rmtree(work)
finish()
