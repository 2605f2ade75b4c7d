"""What a server has to remember to know which commands are answered at once.

The scripts need this: a `reserve` without a job waits, and another command wakes
it.  The model predicts how many replies each connection gets, not their text;
the text is compared between the servers.  It also finds the jobs that commands
act on.

Time stands still in everyday scripts: no delay, TTR or pause ends.  With
--timing, advance() moves it.

Three rules keep the replies independent of the order in which a server serves its
connections.  refuses() and chooses() find what would break them:

- No two waiting connections watch a common tube.
- At most one connection has commands behind a waiting reserve.
- No connection ends while it holds several jobs that one waiting connection could
  get.  beanstalkd hands out the job that was reserved first, tickwheeld the most
  urgent one.

A `quit` behind a waiting reserve is refused, too: see Player.play_send().
"""
import collections

from state import Connection, Job

FREE = 2            # connections that never wait, so that they can wake others
QUEUE_MAX = 16_384  # bytes sent to a waiting connection; the sockets hold them
NEVER = 100         # seconds that no script lasts


class Model:
    def __init__(self, limit):
        self.limit = limit  # of a body
        self.now = 0.0
        self.last_event = float("-inf")  # when something last ended
        self.jobs = {}
        self.ids = {}       # by label
        self.next_id = 1
        self.ready = collections.defaultdict(dict)   # by tube: by id
        self.buried = collections.defaultdict(dict)  # by tube, oldest first
        self.paused = {}    # tube: when the pause ends
        self.connections = {}
        self.connections_ever = 0
        self.is_draining = False
        self.woken = []     # connections whose queues are to be run
        self.ends_write = False  # see settle() and pause()
        self.runs = {"put": self.put, "use": self.use, "watch": self.watch,
                     "ignore": self.ignore, "reserve": self.reserve,
                     "reserve-job": self.reserve_job, "delete": self.delete,
                     "release": self.release, "bury": self.bury,
                     "touch": self.touch, "kick": self.kick,
                     "kick-job": self.kick_job, "pause-tube": self.pause,
                     "quit": self.quit, "other": self.other}

    # Connections.

    def open(self, number):
        self.connections[number] = Connection(number)
        self.connections_ever += 1

    def id_of(self, command):
        """The id that `command` contains if it is sent now."""
        if command.job is None:
            return command.number
        return self.ids.get(command.job, 0)

    def refuses(self, number, command):
        """Whether replies would depend on the order of connections."""
        c = self.connections[number]
        if c.waiting:
            size = len(command.line) + len(command.body) + 4
            return (command.verb in ("watch", "quit")
                    or c.queue_bytes + size > QUEUE_MAX
                    or any(other.queue for other in self.connections.values()
                           if other is not c))
        if command.verb == "quit":
            return self.chooses(c)
        if command.verb != "reserve" or not self.would_wait(c, command):
            return False
        waiting = [other for other in self.connections.values()
                   if other.waiting]
        return (len(waiting) + FREE >= len(self.connections)
                or any(set(other.watched) & set(c.watched)
                       for other in waiting))

    def send(self, number, command):
        """A connection sends a command."""
        c = self.connections[number]
        self.ends_write = False
        self.receive(c, command, self.id_of(command))
        self.settle()

    def receive(self, c, command, job_id):
        if c.waiting:
            c.queue.append((command, job_id))
            c.queue_bytes += len(command.line) + len(command.body) + 4
            return
        self.runs[command.verb](c, command, job_id)

    def settle(self):
        """Run the queues of connections that the last change has woken.  The
        server serves them at the same time as the connection that woke them."""
        self.forget_tubes()
        while self.woken:
            c = self.woken.pop(0)
            queue, c.queue, c.queue_bytes = c.queue, collections.deque(), 0
            self.ends_write |= bool(queue)
            for command, job_id in queue:
                self.receive(c, command, job_id)
                self.forget_tubes()

    def chooses(self, c):
        """Whether the end of `c` may return several jobs to a waiting connection.
        Commands behind a waiting reserve of `c` may reserve more."""
        return any(other.waiting and other is not c
                   and (c.queue or sum(job.tube in other.watched
                                       for job in c.jobs.values()) > 1)
                   for other in self.connections.values())

    def shut_down(self, number):
        """A connection closes its sending half: it waits no longer."""
        c = self.connections[number]
        c.is_half_closed = True
        if c.waiting:
            self.answer_waiting(c)
        self.settle()

    def close(self, number, command=None, cut=0):
        """A connection closes after the first `cut` bytes of `command`."""
        c = self.connections.pop(number)
        if (command and command.verb == "put" and not c.waiting
                and cut >= len(command.line) + 2
                and len(command.body) <= self.limit):
            self.take_id(command)
        for job in list(c.jobs.values()):
            self.unreserve(job)
            self.enqueue(job, 0)
        self.settle()

    # Jobs.

    def take_id(self, command):
        self.ids[command.label] = self.next_id
        self.next_id += 1
        return self.next_id - 1

    def enqueue(self, job, delay):
        if delay:
            job.state, job.due = "delayed", self.now + delay
            return
        job.state = "ready"
        self.ready[job.tube][job.id] = job
        self.serve(job.tube)

    def serve(self, tube):
        """Give the ready jobs of a tube to the connection that waits for them."""
        for c in self.connections.values():
            if c.waiting and tube in c.watched:
                job = self.best(c)
                if job:
                    self.give(c, job)
                    self.answer_waiting(c)

    def best(self, c):
        """The ready job that a reserve of `c` gets."""
        found = [job for tube in c.watched if tube not in self.paused
                 for job in self.ready[tube].values()]
        return min(found, key=lambda job: (job.pri, job.id), default=None)

    def give(self, c, job):
        self.take_out(job)
        job.state, job.holder, job.due = "reserved", c, self.now + job.ttr
        c.jobs[job.id] = job

    def take_out(self, job):
        """Remove a job from where its state keeps it."""
        if job.state == "ready":
            del self.ready[job.tube][job.id]
        elif job.state == "buried":
            del self.buried[job.tube][job.id]

    def unreserve(self, job):
        del job.holder.jobs[job.id]
        job.holder = None

    def held(self, c, job_id):
        """The job, if `c` has reserved it."""
        return c.jobs.get(job_id)

    def delayed(self, tube):
        """The delayed jobs of a tube, soonest first."""
        found = [job for job in self.jobs.values()
                 if job.state == "delayed" and job.tube == tube]
        return sorted(found, key=lambda job: (job.due, job.id))

    def answer_waiting(self, c):
        c.owed.append(c.waiting)
        c.waiting = c.until = None
        self.woken.append(c)

    # Tubes.

    def exists(self, tube):
        return (tube == b"default"
                or any(tube == c.use or tube in c.watched
                       for c in self.connections.values())
                or any(job.tube == tube for job in self.jobs.values()))

    def forget_tubes(self):
        """A tube that vanishes takes its pause with it."""
        for tube in list(self.paused):
            if not self.exists(tube):
                del self.paused[tube]

    # Commands: each takes the connection, the command and the id in it.

    def other(self, c, command, _):
        c.owed.append(command)

    def put(self, c, command, _):
        c.owed.append(command)
        if len(command.body) > self.limit:
            return
        job_id = self.take_id(command)
        if self.is_draining or command.trailer != b"\r\n":
            return
        job = Job(job_id, c.use, command.pri, max(command.ttr, 1),
                  command.label)
        self.jobs[job_id] = job
        self.enqueue(job, command.delay)

    def use(self, c, command, _):
        c.owed.append(command)
        c.use = command.tube

    def watch(self, c, command, _):
        c.owed.append(command)
        if command.tube not in c.watched:
            c.watched.append(command.tube)

    def ignore(self, c, command, _):
        c.owed.append(command)
        if command.tube in c.watched and len(c.watched) > 1:
            c.watched.remove(command.tube)

    def would_wait(self, c, command):
        return not (command.timeout == 0 or c.is_half_closed or self.best(c)
                    or self.is_deadline_soon(c))

    def is_deadline_soon(self, c):
        return any(job.due - 1 <= self.now for job in c.jobs.values())

    def reserve(self, c, command, _):
        if self.would_wait(c, command):
            c.waiting = command
            if command.timeout is not None:
                c.until = self.now + command.timeout
            return
        c.owed.append(command)
        job = self.best(c)
        if job:
            self.give(c, job)

    def reserve_job(self, c, command, job_id):
        c.owed.append(command)
        job = self.jobs.get(job_id)
        if job and job.state != "reserved":
            self.give(c, job)

    def delete(self, c, command, job_id):
        c.owed.append(command)
        job = self.jobs.get(job_id)
        if job is None or job.holder not in (None, c):
            return
        if job.holder:
            self.unreserve(job)
        else:
            self.take_out(job)
        del self.jobs[job_id]

    def release(self, c, command, job_id):
        c.owed.append(command)
        job = self.held(c, job_id)
        if job:
            self.unreserve(job)
            job.pri = command.pri
            self.enqueue(job, command.delay)

    def bury(self, c, command, job_id):
        c.owed.append(command)
        job = self.held(c, job_id)
        if job:
            self.unreserve(job)
            job.pri, job.state = command.pri, "buried"
            self.buried[job.tube][job.id] = job

    def touch(self, c, command, job_id):
        c.owed.append(command)
        job = self.held(c, job_id)
        if job:
            job.due = self.now + job.ttr

    def kick(self, c, command, _):
        c.owed.append(command)
        jobs = list(self.buried[c.use].values()) or self.delayed(c.use)
        for job in jobs[:command.bound]:
            self.take_out(job)
            self.enqueue(job, 0)

    def kick_job(self, c, command, job_id):
        c.owed.append(command)
        job = self.jobs.get(job_id)
        if job and job.state in ("buried", "delayed"):
            self.take_out(job)
            self.enqueue(job, 0)

    def pause(self, c, command, _):
        """beanstalkd ends a pause of 0 s when it next reads the clock, which may
        be after the next command."""
        c.owed.append(command)
        if not self.exists(command.tube):
            return
        if command.delay:
            self.paused[command.tube] = self.now + command.delay
        elif self.paused.pop(command.tube, None) is not None:
            self.ends_write = True
            self.serve(command.tube)

    def quit(self, c, _command, _id):
        c.has_quit = True

    # Time.

    def events(self):
        """What happens by itself: when, which method, and its argument."""
        for job in self.jobs.values():
            if job.state == "delayed":
                yield job.due, self.end_delay, job
            elif job.state == "reserved":
                yield job.due, self.end_ttr, job
                if job.due - 1 > self.now:
                    yield job.due - 1, self.end_safety, job.holder
        for tube, until in self.paused.items():
            yield until, self.end_pause, tube
        for c in self.connections.values():
            if c.until is not None:
                yield c.until, self.answer_waiting, c

    def next_event(self):
        return min(self.events(), key=lambda event: event[0],
                   default=(float("inf"), None, None))

    def advance(self, now):
        self.ends_write = False
        while (event := self.next_event())[0] <= now:
            self.now, happen, what = event
            self.last_event = self.now
            happen(what)
            self.settle()
        self.now = now

    def is_quiet(self, margin):
        """Whether nothing ends within `margin` of now, nor two things within
        `margin` of each other.  Longer delays never end."""
        times = sorted([self.last_event, self.now,
                        *(when for when, _, _ in self.events()
                          if when < self.now + NEVER)])
        return all(b - a >= margin for a, b in zip(times, times[1:]))

    def end_delay(self, job):
        self.enqueue(job, 0)

    def end_ttr(self, job):
        self.unreserve(job)
        self.enqueue(job, 0)

    def end_safety(self, c):
        if c.waiting:
            self.answer_waiting(c)

    def end_pause(self, tube):
        del self.paused[tube]
        self.serve(tube)
