package tickwheel.bench;

/**
 * A timer facility that is told the time.  Made with room for its handles; open()
 * then makes the facility itself, with no timer armed, at time 0.
 *
 * Only one subclass is loaded in a process, so that calls of its methods are
 * compiled like calls of a final class.
 */
abstract class VirtualPeer {
    interface Maker {
        VirtualPeer make(int n, long renewMs);
    }

    final long renewMs;
    long fired;
    long now;

    /** What fires is armed again after renewMs, unless that is 0. */
    VirtualPeer(long renewMs) {
        this.renewMs = renewMs;
    }

    abstract void open();

    abstract void arm(int id, long deadline);

    abstract void cancel(int id);

    abstract void move(int id, long deadline);

    /** Move time, and fire what is due. */
    abstract void advance(long to);

    /** When to advance to next; Long.MAX_VALUE if nothing is armed. */
    long next() {
        throw new UnsupportedOperationException();
    }

    /** How many are armed. */
    abstract long pending();

    final void fire(int id) {
        fired++;
        if (renewMs > 0)
            arm(id, now + renewMs);
    }
}
