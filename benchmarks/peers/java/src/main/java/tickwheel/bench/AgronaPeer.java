package tickwheel.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

final class AgronaPeer extends VirtualPeer implements DeadlineTimerWheel.TimerHandler {
    /* Each tick is an array to search, so many timers want many ticks. */
    static final int TICKS_FOR_FEW = 4_096;
    static final int TICKS_FOR_MANY = 65_536;
    static final int FEW = 10_000;

    private final int ticks;
    private final int roomInTick;
    private final long[] handles;
    private final int[][] names;
    private DeadlineTimerWheel wheel;

    AgronaPeer(int n, long renewMs) {
        super(renewMs);
        ticks = n <= FEW ? TICKS_FOR_FEW : TICKS_FOR_MANY;
        /* Room for twice the mean, so that it need not grow. */
        roomInTick = Math.max(16, Integer.highestOneBit(2 * n / ticks + 1) * 2);
        handles = new long[n];
        names = new int[renewMs > 0 ? ticks : 0][16];
    }

    @Override
    void open() {
        wheel = new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, 1, ticks, roomInTick);
    }

    @Override
    void arm(int id, long deadline) {
        long handle = wheel.scheduleTimer(deadline);
        handles[id] = handle;
        if (renewMs > 0)
            name(handle, id);
    }

    @Override
    void cancel(int id) {
        wheel.cancelTimer(handles[id]);
    }

    @Override
    void move(int id, long deadline) {
        cancel(id);
        arm(id, deadline);
    }

    /**
     * poll() looks at one tick and then goes on to the next, but looks at that
     * only when called again.  To set the tick first saves looking at it twice.
     */
    @Override
    void advance(long to) {
        if (wheel.timerCount() == 0) {
            now = to;
            wheel.currentTickTime(now);
        }
        while (now < to) {
            now++;
            wheel.currentTickTime(now);
            wheel.poll(now, this, Integer.MAX_VALUE);
        }
    }

    @Override
    public boolean onTimerExpiry(TimeUnit unit, long polled, long handle) {
        fire(renewMs > 0 ? names[(int) (handle >> 32)][(int) handle] : 0);
        return true;
    }

    /**
     * A timer that fires is known by its handle alone, a tick and an index, so
     * who must know whose it was has to keep it.  Where nobody asks, we do not.
     */
    private void name(long handle, int id) {
        int tick = (int) (handle >> 32);
        int index = (int) handle;
        if (index >= names[tick].length)
            names[tick] = Arrays.copyOf(names[tick], 2 * index);
        names[tick][index] = id;
    }

    @Override
    long pending() {
        return wheel.timerCount();
    }
}
