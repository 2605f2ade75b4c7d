package tickwheel.bench;

/**
 * A timer facility with a clock and a thread of its own.  Calls firings.fired()
 * for what fires, in that thread.
 *
 * Only one subclass is loaded in a process, so that calls of its methods are
 * compiled like calls of a final class.
 */
abstract class RealPeer implements AutoCloseable {
    interface Maker {
        RealPeer make(int n, Firings firings);
    }

    abstract void arm(int id, long delayMs);

    abstract void cancel(int id);

    void move(int id, long delayMs) {
        cancel(id);
        arm(id, delayMs);
    }

    @Override
    public abstract void close();
}
