"""Progress on stderr for what takes over two seconds, as the command line shows it."""
import sys
import time


class Progress:
    """Call it with a line of text as often as you like: a line is shown after two seconds, then at most ten a second on a terminal
    (rewritten in place), or one in five seconds elsewhere. As a context it is one piece of work, whose time begins there."""

    def __init__(self, stream=None, clock=time.monotonic):
        self.stream, self.clock = stream or sys.stderr, clock
        self.begin = self.shown = None

    def __enter__(self):
        self.begin, self.shown = self.clock(), None

    def __exit__(self, *error):
        if self.shown is not None and self.stream.isatty():
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def __call__(self, now):
        moment = self.clock()
        if self.begin is None:
            self.begin = moment
        terminal = self.stream.isatty()
        if moment - self.begin < 2 or (self.shown is not None and moment - self.shown < (0.1 if terminal else 5)):
            return
        self.shown = moment
        text = f"{now} ({moment - self.begin:.0f} s)"
        self.stream.write(f"\r\x1b[K{text}" if terminal else text + "\n")
        self.stream.flush()
