package tickwheel.bench;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

final class NettyPeer extends RealPeer {
    /* The default, 512, is for few: a million would go round twice a second. */
    static final int SLOTS = 65_536;
    private static final boolean IS_LEAK_DETECTED = false;

    private final HashedWheelTimer timer = new HashedWheelTimer(
            Executors.defaultThreadFactory(), 1, TimeUnit.MILLISECONDS, SLOTS, IS_LEAK_DETECTED);
    private final TimerTask[] tasks;
    private final Timeout[] handles;

    NettyPeer(int n, Firings firings) {
        tasks = new TimerTask[n];
        handles = new Timeout[n];
        for (int i = 0; i < n; i++) {
            int id = i;
            tasks[id] = timeout -> firings.fired(id);
        }
        timer.start();
    }

    @Override
    void arm(int id, long delayMs) {
        handles[id] = timer.newTimeout(tasks[id], delayMs, TimeUnit.MILLISECONDS);
    }

    @Override
    void cancel(int id) {
        handles[id].cancel();
    }

    @Override
    public void close() {
        timer.stop();
    }
}
