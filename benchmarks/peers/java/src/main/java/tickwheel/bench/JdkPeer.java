package tickwheel.bench;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

final class JdkPeer extends RealPeer {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
    private final Runnable[] tasks;
    private final Future<?>[] handles;

    JdkPeer(int n, Firings firings) {
        tasks = new Runnable[n];
        handles = new Future<?>[n];
        for (int i = 0; i < n; i++) {
            int id = i;
            tasks[id] = () -> firings.fired(id);
        }
        executor.setRemoveOnCancelPolicy(true);
        executor.prestartCoreThread();
    }

    @Override
    void arm(int id, long delayMs) {
        handles[id] = executor.schedule(tasks[id], delayMs, TimeUnit.MILLISECONDS);
    }

    @Override
    void cancel(int id) {
        handles[id].cancel(false);
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
