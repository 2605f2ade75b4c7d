package tickwheel.bench;

import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

final class KafkaPeer extends RealPeer {
    /* The reaper is Kafka's own thread that calls advanceClock(200). */
    private final Timer timer = new SystemTimerReaper("reaper", new SystemTimer("timer"));
    private final Task[] tasks;
    private final Firings firings;

    KafkaPeer(int n, Firings firings) {
        this.tasks = new Task[n];
        this.firings = firings;
    }

    /** A task has its delay for life; for the same delay it is used again. */
    @Override
    void arm(int id, long delayMs) {
        Task task = tasks[id];
        if (task == null || task.delayMs != delayMs)
            tasks[id] = task = new Task(id, delayMs);
        timer.add(task);
    }

    @Override
    void cancel(int id) {
        tasks[id].cancel();
    }

    /** To add a task that is armed moves it. */
    @Override
    void move(int id, long delayMs) {
        if (tasks[id].delayMs != delayMs)
            cancel(id);
        arm(id, delayMs);
    }

    @Override
    public void close() {
        try {
            timer.close();
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private final class Task extends TimerTask {
        private final int id;

        Task(int id, long delayMs) {
            super(delayMs);
            this.id = id;
        }

        @Override
        public void run() {
            firings.fired(id);
        }
    }
}
