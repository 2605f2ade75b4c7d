"""What model.py remembers of a job and of a connection."""
import collections
import dataclasses


@dataclasses.dataclass(slots=True)
class Job:
    id: int
    tube: bytes
    pri: int
    ttr: int
    label: int
    state: str = ""         # ready, delayed, reserved, buried
    holder: object = None   # the connection that has reserved it
    due: float = 0.0        # when its delay or its TTR ends


class Connection:
    def __init__(self, number):
        self.number = number
        self.use = b"default"
        self.watched = [b"default"]
        self.jobs = {}      # reserved ones, oldest first
        self.owed = collections.deque()   # commands to be answered now
        self.waiting = None               # the reserve that waits
        self.until = None                 # when it times out
        self.queue = collections.deque()  # commands behind it
        self.queue_bytes = 0
        self.has_quit = False
        self.is_half_closed = False
