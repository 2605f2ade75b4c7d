"""Makes single commands by chance.  Each method takes the connection that is to
send the command, and returns a Command that is likely to be interesting in the
present state of the model."""
import badlines
from command import JOB, Command

TUBES = (b"default", b"a", b"b", b"mail", b"A-Za-z0-9-+/;.$_()", b"t" * 200)
BAD_TRAILERS = (b"\n\r", b"xx", b"\r", b"\rx", b"x\r")
HOUR_MAX = 4_294_967_295  # seconds, the largest number of 32 bits
URGENT = 1024             # jobs with a smaller priority count as urgent
JOBS_MANY = 150

PEEKS = ("peek-ready", "peek-delayed", "peek-buried")
LISTS = ("list-tubes", "list-tube-used", "list-tubes-watched")


class Vocabulary:
    def __init__(self, rng, model, times):
        self.rng = rng
        self.model = model
        self.times = times  # see Everyday
        self.labels = 0

    # Arguments.

    def pri(self):
        rng = self.rng
        return rng.choice((0, 1, 2, 3, URGENT - 1, URGENT, 2**32 - 1,
                           rng.randrange(2**32)))

    def tube(self, c):
        """Mostly a tube that `c` knows."""
        chance = self.rng.random()
        if chance < 0.3:
            return c.use
        if chance < 0.5:
            return self.rng.choice(c.watched)
        return self.rng.choice(TUBES)

    def target(self, c, *states):
        """The label of a job: mostly one of `c`, or in one of `states`, sometimes
        any, sometimes one that is gone."""
        rng, jobs = self.rng, self.model.jobs
        chance = rng.random()
        if chance < 0.75:
            found = (list(c.jobs.values()) if "held" in states else
                     [job for job in jobs.values() if job.state in states])
            if found:
                return rng.choice(found).label
        if chance < 0.92 and jobs:
            return rng.choice(list(jobs.values())).label
        return rng.randrange(self.labels + 1)

    def of_job(self, verb, form, c, *states, **fields):
        """A command on a job; in `form`, JOB stands for its id."""
        if self.rng.random() < 0.03:  # an id that no put has taken
            number = self.rng.choice((0, self.model.next_id + 7, 2**64 - 1))
            return Command(verb, form.replace(JOB, b"%d" % number),
                           number=number, **fields)
        return Command(verb, form, job=self.target(c, *states), **fields)

    def spaces(self):
        return b" " if self.rng.random() < 0.95 else b"   "

    # Commands.

    def put(self, c):
        rng = self.rng
        pri, delay = self.pri(), self.times.delay(rng)
        ttr, body = self.times.ttr(rng), self.body()
        trailer = b"\r\n" if rng.random() < 0.97 else rng.choice(BAD_TRAILERS)
        if len(trailer) < 2:  # the next two bytes belong to the body
            body, trailer = body + b"z", b"z" + trailer
        line = b"put %d %d %d %d" % (pri, delay, ttr, len(body))
        if rng.random() < 0.03:
            line = line.replace(b" ", self.spaces())
        elif rng.random() < 0.02:  # as long as a line may be
            line = b"put" + b" " * (222 - len(line)) + line[3:]
        self.labels += 1
        return Command("put", line, label=self.labels, pri=pri, delay=delay,
                       ttr=ttr, body=body, trailer=trailer)

    def body(self):
        rng, limit = self.rng, self.model.limit
        chance = rng.random()
        rare = 0.03 if limit < 10_000 else 0.002
        if chance < rare:
            return rng.randbytes(rng.choice((
                limit - 1, limit, limit + 1, limit + 2, limit + 1000)))
        size = (rng.randrange(20) if chance < 0.6 else
                rng.randrange(200) if chance < 0.95 else rng.randrange(3000))
        if chance > 0.9:  # looks like commands
            return (b"stats\r\nput 0 0 1 1\r\n" * (size // 21 + 1))[:size]
        return rng.randbytes(min(size, limit))

    def use(self, c):
        tube = self.tube(c)
        return Command("use", b"use " + tube, tube=tube)

    def watch(self, c):
        tube = self.tube(c)
        return Command("watch", b"watch " + tube, tube=tube)

    def ignore(self, c):
        tube = self.tube(c)
        return Command("ignore", b"ignore " + tube, tube=tube)

    def poll(self, c):
        form = self.rng.choice((b"0",) * 20 + (b"", b"x", b" 0 ", b"0x"))
        return Command("reserve", b"reserve-with-timeout " + form, timeout=0)

    def reserve(self, c):
        timeout = self.times.timeout(self.rng)
        if timeout is None:
            line = self.rng.choice((b"reserve", b"reserve", b"reserve",
                                    b"reserve-with-timeout -1"))
        else:
            line = b"reserve-with-timeout %d" % timeout
        return Command("reserve", line, timeout=timeout)

    def reserve_job(self, c):
        return self.of_job("reserve-job", b"reserve-job " + JOB, c, "ready",
                           "delayed", "buried")

    def delete(self, c):
        states = self.rng.choice((("held",), ("ready", "delayed", "buried")))
        return self.of_job("delete", b"delete" + self.spaces() + JOB, c,
                           *states)

    def release(self, c):
        pri, delay = self.pri(), self.times.release_delay(self.rng)
        return self.of_job("release", b"release %b %d %d" % (JOB, pri, delay),
                           c, "held", pri=pri, delay=delay)

    def bury(self, c):
        pri = self.pri()
        return self.of_job("bury", b"bury %b %d" % (JOB, pri), c, "held",
                           pri=pri)

    def touch(self, c):
        return self.of_job("touch", b"touch " + JOB, c, "held")

    def kick(self, c):
        bound = self.rng.choice((0, 1, 1, 1, 2, 3, 10, 2**32 - 1))
        form = self.rng.choice((b"%d",) * 12 + (b" %d", b"%dx", b"%d x",
                                                b"+%d", b"\t%d"))
        return Command("kick", b"kick " + form % bound, bound=bound)

    def kick_job(self, c):
        return self.of_job("kick-job", b"kick-job " + JOB, c, "delayed",
                           "buried")

    def pause(self, c):
        delay = self.times.pause(self.rng)
        form = self.rng.choice((b"pause-tube %b %d",) * 8 + (
            b"pause-tube%b  %d", b"pause-tube  %b %d"))
        tube = self.tube(c)
        return Command("pause-tube", form % (tube, delay), tube=tube,
                       delay=delay)

    def quit(self, c):
        return Command("quit", self.rng.choice((b"quit", b"quit", b"quit x")))

    # Commands that change nothing.

    def peek(self, c):
        return self.of_job("other", b"peek " + JOB, c, "ready", "reserved",
                           "delayed", "buried")

    def stats_job(self, c):
        return self.of_job("other", b"stats-job " + JOB, c, "ready",
                           "reserved", "delayed", "buried", name="stats-job")

    def stats_tube(self, c):
        tube = self.tube(c)
        return Command("other", b"stats-tube " + tube, "stats-tube")

    def plain(self, c, *names):
        name = self.rng.choice(names)
        return Command("other", name.encode(), name)

    def peek_state(self, c):
        return self.plain(c, *PEEKS)

    def lists(self, c):
        return self.plain(c, *LISTS)

    def stats(self, c):
        return self.plain(c, "stats")

    def bad(self, c):
        line = badlines.bad_line(self.rng)
        return Command("other", line,
                       job=self.target(c, "held") if JOB in line else None)

    def weights(self):
        """How often each method is used."""
        many = len(self.model.jobs) > JOBS_MANY
        return {self.put: 8 if many else 20, self.delete: 20 if many else 9,
                self.poll: 10, self.reserve: 4, self.reserve_job: 3,
                self.release: 5, self.bury: 4, self.touch: 2, self.kick: 2,
                self.kick_job: 2, self.pause: 1, self.use: 4, self.watch: 4,
                self.ignore: 3, self.peek: 3, self.peek_state: 4,
                self.stats_job: 4, self.stats_tube: 2, self.lists: 3,
                self.stats: 1, self.bad: 6, self.quit: 0.1}


class Everyday:
    """Times that do not end while a script runs.

    All are multiples of 1,000 s: see masks.py.  Each release has a delay of its
    own: two releases with equal delays would be due in an order that depends on
    the clock's resolution."""
    LONG = (1000, 2000, 5000, 10_000, 1_000_000)

    def delay(self, rng):
        chance = rng.random()
        if chance < 0.6:
            return 0
        return rng.choice(self.LONG) if chance < 0.98 else HOUR_MAX

    def release_delay(self, rng):
        return 0 if rng.random() < 0.6 else 1000 * rng.randrange(1, 4_000_000)

    def ttr(self, rng):
        return rng.choice(self.LONG) if rng.random() < 0.98 else HOUR_MAX

    def pause(self, rng):
        return 0 if rng.random() < 0.6 else rng.choice(self.LONG)

    def timeout(self, rng):
        return None if rng.random() < 0.6 else rng.choice(self.LONG)
