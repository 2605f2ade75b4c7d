package org.apache.kafka.server.util.timer;

import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Kafka's TimingWheel, driven as SystemTimer drives it, but by a time that is
 * passed in: without its clock, its executor and its read-write lock.  In
 * Kafka's package, because the wheel's constructor and its lists are visible
 * nowhere else.
 */
public final class VirtualTimer {
    private final AtomicInteger taskCounter = new AtomicInteger();
    private final DelayQueue<TimerTaskList> buckets = new DelayQueue<>();
    private final TimingWheel wheel = new TimingWheel(1, 20, 0, taskCounter, buckets);
    private final Consumer<TimerTaskEntry> place = this::place;

    /** Arm a task, or move it: its entry takes the place of the one it had. */
    public void add(TimerTask task, long deadlineMs) {
        place(new TimerTaskEntry(task, deadlineMs));
    }

    private void place(TimerTaskEntry entry) {
        if (!wheel.add(entry) && !entry.cancelled())
            entry.timerTask.run();
    }

    /**
     * SystemTimer polls the queue, which asks the system's clock whether the
     * first bucket is due.  To look at it and take it out comes to the same.
     */
    public void advance(long nowMs) {
        TimerTaskList bucket;
        while ((bucket = buckets.peek()) != null && bucket.getExpiration() <= nowMs) {
            buckets.remove(bucket);
            wheel.advanceClock(bucket.getExpiration());
            bucket.flush(place);
        }
    }

    /** When the next bucket is due, or Long.MAX_VALUE. */
    public long next() {
        TimerTaskList bucket = buckets.peek();
        return bucket == null ? Long.MAX_VALUE : bucket.getExpiration();
    }

    public int size() {
        return taskCounter.get();
    }
}
