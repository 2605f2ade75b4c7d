package tickwheel.bench;

import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.VirtualTimer;

final class KafkaWheelPeer extends VirtualPeer {
    private final Task[] tasks;
    private VirtualTimer timer;

    KafkaWheelPeer(int n, long renewMs) {
        super(renewMs);
        tasks = new Task[n];
    }

    @Override
    void open() {
        timer = new VirtualTimer();
        for (int id = 0; id < tasks.length; id++)
            tasks[id] = new Task(id);
    }

    @Override
    void arm(int id, long deadline) {
        timer.add(tasks[id], deadline);
    }

    @Override
    void cancel(int id) {
        tasks[id].cancel();
    }

    /** To add a task that is armed moves it. */
    @Override
    void move(int id, long deadline) {
        timer.add(tasks[id], deadline);
    }

    @Override
    void advance(long to) {
        now = to;
        timer.advance(to);
    }

    @Override
    long next() {
        return timer.next();
    }

    @Override
    long pending() {
        return timer.size();
    }

    private final class Task extends TimerTask {
        private final int id;

        Task(int id) {
            super(0); /* SystemTimer's delay, which the wheel does not read */
            this.id = id;
        }

        @Override
        public void run() {
            fire(id);
        }
    }
}
