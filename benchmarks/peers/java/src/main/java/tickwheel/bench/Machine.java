package tickwheel.bench;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** What the process uses of the machine. */
final class Machine {
    private static final Map<String, Long> seenNs = new HashMap<>();

    private Machine() {
    }

    /**
     * Bytes alive on the heap: what the second collection has left.  What is in
     * use a moment later has a thread's buffer of some megabytes in it.
     */
    static long liveBytes() {
        System.gc();
        System.runFinalization(); /* or what was used to warm up is still there */
        System.gc();
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getCollectionUsage().getUsed())
                .sum();
    }

    /**
     * Processor time of all threads.  Java's own number has a grain of 10 ms,
     * too coarse for what an idle timer takes.  What threads that have ended had
     * used when last seen still counts.
     */
    static long cpuNs() {
        for (String thread : new File("/proc/self/task").list())
            seenNs.merge(thread, cpuNs(thread), Math::max);
        return seenNs.values().stream().mapToLong(Long::longValue).sum();
    }

    private static long cpuNs(String thread) {
        try {
            String line = Files.readString(Path.of("/proc/self/task", thread, "schedstat"));
            return Long.parseLong(line.substring(0, line.indexOf(' ')));
        } catch (NoSuchFileException ended) {
            return 0;
        } catch (IOException failure) {
            throw new IllegalStateException("cannot read processor time", failure);
        }
    }

    static void sleepUntil(long ns) {
        try {
            for (long left; (left = ns - System.nanoTime()) > 0;)
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
