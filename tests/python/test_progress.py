"""Progress lines: nothing for what is quick, few for what is not."""
import io

from dougong.progress import Progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def lines(moments, terminal=False):
    clock, stream = Clock(), io.StringIO()
    stream.isatty = lambda: terminal
    progress = Progress(stream, clock)
    for moment in moments:
        clock.now = moment
        progress(f"step at {moment:g}")
    return stream.getvalue()


def test_quick_work_is_silent():
    assert lines([0, 0.5, 1, 1.5, 1.9]) == ""


def test_slow_work_shows_a_line_every_five_seconds():
    assert lines([i / 2 for i in range(25)]) == "step at 2 (2 s)\nstep at 7 (7 s)\nstep at 12 (12 s)\n"


def test_a_terminals_line_is_rewritten():
    assert lines([0, 1, 2, 2.05, 2.2], terminal=True) == "\r\x1b[Kstep at 2 (2 s)\r\x1b[Kstep at 2.2 (2 s)"


def test_each_piece_of_work_has_its_own_two_seconds():
    clock, stream = Clock(), io.StringIO()
    progress = Progress(stream, clock)
    for start in (0, 10, 20):
        clock.now = start
        with progress:
            clock.now = start + 1.5
            progress("quick")
    assert stream.getvalue() == ""
    with progress:
        clock.now = 30
        progress("slow")
    assert stream.getvalue() == "slow (8 s)\n"


def test_a_terminals_line_goes_when_the_work_is_done():
    clock, stream = Clock(), io.StringIO()
    stream.isatty = lambda: True
    with Progress(stream, clock) as _, Progress(stream, clock):
        pass
    assert stream.getvalue() == ""
    progress = Progress(stream, clock)
    with progress:
        clock.now = 3
        progress("slow")
    assert stream.getvalue().endswith("\r\x1b[K")
