package tickwheel.bench;

import java.util.concurrent.atomic.AtomicLong;

/** What has fired.  One thread at a time may call fired(). */
final class Firings {
    private final AtomicLong count = new AtomicLong();

    /* Where it is wanted: when each is due, and how much later it ran. */
    long[] dueNs;
    long[] lateNs;

    /* Where it is wanted: what fires is armed again. */
    RealPeer renewer;
    long renewMs;

    void fired(int id) {
        if (lateNs != null)
            lateNs[id] = System.nanoTime() - dueNs[id];
        if (renewer != null)
            renewer.arm(id, renewMs);
        count.lazySet(count.get() + 1);
    }

    long count() {
        return count.get();
    }

    void forget() {
        count.set(0);
    }

    /** Wait until n have fired, at most a millisecond longer. */
    void await(long n) {
        long giveUp = System.nanoTime() + 60_000_000_000L;
        for (;;) {
            long now = System.nanoTime();
            if (count() == n)
                return;
            if (now > giveUp || count() > n)
                throw new IllegalStateException(count() + " have fired and not " + n);
            Machine.sleepUntil(now + 500_000);
        }
    }

    void expect(long n) {
        if (count() != n)
            throw new IllegalStateException(count() + " have fired and not " + n);
    }
}
