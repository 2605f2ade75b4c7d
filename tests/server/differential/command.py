"""Commands and steps: the parts of a script.

A command that acts on a job does not contain the job's id, because ids change
when the shrinker removes an earlier put.  It contains the label of the job's put,
and model.py knows which id that put took.  JOB marks the place of the id."""
import dataclasses
import typing

JOB = b"<job>"


@dataclasses.dataclass(slots=True)
class Command:
    """A command line and its meaning.  Fields that a verb does not have keep
    their defaults.  The verb "other" covers all commands that change nothing and
    have one reply; `name` is then what masks.py needs to know."""
    verb: str
    line: bytes                 # without CRLF
    name: str = ""
    label: int = 0              # put: the name of its job within the script
    job: typing.Optional[int] = None  # the label of the job to act on
    number: int = 0             # if there is no label: the id itself
    tube: bytes = b""
    pri: int = 0
    delay: int = 0              # put, release, pause-tube: seconds
    ttr: int = 0
    timeout: typing.Optional[int] = None  # reserve: seconds; None: for ever
    bound: int = 0              # kick
    body: bytes = b""
    trailer: bytes = b"\r\n"    # put: what follows the body

    def encode(self, job_id):
        """The bytes to send, if the command's job has the id `job_id`."""
        line = self.line
        if self.job is not None:
            line = line.replace(JOB, b"%d" % job_id)
        if self.verb == "put":
            return b"%b\r\n%b%b" % (line, self.body, self.trailer)
        return line + b"\r\n"


@dataclasses.dataclass(slots=True)
class Step:
    """What a script does at one point.

    act       the connection...
    --------  --------------------------------------------------------------
    send      sends `command`
    close     sends the first `cut` bytes of `command`, if there is one, and
              closes
    shutdown  closes its sending half, and reads until the server closes
    drain     (no connection) both servers get SIGUSR1
    """
    act: str
    connection: int = 0
    command: typing.Optional[Command] = None
    is_joined: bool = False   # in one write with the step before it
    cut: int = 0              # send: the write is split before this byte of it
    at: float = 0.0           # with --timing: seconds after the start
