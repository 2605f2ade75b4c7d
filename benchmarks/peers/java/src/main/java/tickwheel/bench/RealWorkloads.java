package tickwheel.bench;

import java.util.Arrays;

/** Every workload in real time, around one peer. */
final class RealWorkloads {
    private static final int OPS_MIN = 1_000_000;
    private static final int WARM_UP_N_MAX = 100_000;
    private static final long MS = 1_000_000;
    private static final long SECOND = 1_000 * MS;
    private static final double[] PERCENTS = {0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100};

    private final int n;
    private final long seed;
    private final int[] order;
    private final Firings firings = new Firings();
    private final RealPeer peer;
    private final Results results = new Results();

    private RealWorkloads(RealPeer.Maker maker, int n, long seed) {
        this.n = n;
        this.seed = seed;
        this.order = Dice.order(n, seed);
        this.peer = maker.make(n, firings);
    }

    static Results run(String workload, RealPeer.Maker maker, int n, long seed) {
        if (workload.startsWith("real-pairs-"))
            return pairs(maker, workload.charAt(workload.length() - 1) - '0');
        new RealWorkloads(maker, Math.min(n, WARM_UP_N_MAX), seed).warmUp();
        var workloads = new RealWorkloads(maker, n, seed);
        switch (workload) {
            case "real-calls" -> workloads.calls();
            case "real-late" -> workloads.late();
            case "real-idle" -> workloads.idle();
            case "real-d1" -> workloads.d1();
            case "real-d2" -> workloads.d2();
            case "real-d3" -> workloads.d3();
            default -> throw new IllegalArgumentException("no workload " + workload);
        }
        workloads.peer.close();
        return workloads.results;
    }

    /** Two seconds of every kind of call, and of firing. */
    private void warmUp() {
        long start = System.nanoTime();
        for (int round = 0; System.nanoTime() - start < 2 * SECOND; round++) {
            armAllFar();
            moveAllFar();
            for (int id : order)
                peer.cancel(id);
            if (round % 4 == 0)
                fireSoon();
        }
        peer.close();
        Machine.cpuNs();
        Machine.liveBytes();
    }

    private void fireSoon() {
        Dice dice = new Dice(seed);
        firings.forget();
        for (int id = 0; id < n; id++)
            peer.arm(id, 1 + dice.below(200));
        firings.await(n);
    }

    private static long farDelay(Dice dice) {
        return 60_000 + dice.below(60_000);
    }

    /** On one facility, which is empty again after each time; the first does not count. */
    private void calls() {
        long live = Machine.liveBytes();
        armAllFar();
        results.say("bytes", (double) (Machine.liveBytes() - live) / n);
        for (int id : order)
            peer.cancel(id);
        callAll(new long[3]);

        long[] took = new long[3];
        int repeats = Math.max(1, OPS_MIN / n);
        for (int i = 0; i < repeats; i++)
            callAll(took);
        double calls = (double) repeats * n;
        results.say("arm_ns", took[0] / calls);
        results.say("rearm_ns", took[1] / calls);
        results.say("cancel_ns", took[2] / calls);
        firings.expect(0);
    }

    private void callAll(long[] took) {
        long began = System.nanoTime();
        armAllFar();
        long armed = System.nanoTime();
        moveAllFar();
        long moved = System.nanoTime();
        for (int id : order)
            peer.cancel(id);
        took[0] += armed - began;
        took[1] += moved - armed;
        took[2] += System.nanoTime() - moved;
    }

    private void armAllFar() {
        Dice dice = new Dice(seed);
        for (int id = 0; id < n; id++)
            peer.arm(id, farDelay(dice));
    }

    private void moveAllFar() {
        Dice dice = Dice.forMoves(seed);
        for (int i = 0; i < n; i++) {
            int id = (int) dice.below(n);
            peer.move(id, farDelay(dice));
        }
    }

    private static Results pairs(RealPeer.Maker maker, int threads) {
        int apart = 1 << 15; /* so that the threads' handles share no line or card */
        Firings firings = new Firings();
        double[] rates = new double[threads];
        Thread[] running = new Thread[threads];
        try (RealPeer peer = maker.make(apart * threads, firings)) {
            for (int i = 0; i < threads; i++) {
                int thread = i;
                running[i] = new Thread(() -> {
                    pairsFor(peer, thread * apart, SECOND);
                    rates[thread] = pairsFor(peer, thread * apart, SECOND);
                });
                running[i].start();
            }
            for (Thread thread : running)
                thread.join();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
        firings.expect(0);
        Results results = new Results();
        results.say("million_a_second", Arrays.stream(rates).sum() / 1e6);
        return results;
    }

    /** Returns how many a second. */
    private static double pairsFor(RealPeer peer, int id, long ns) {
        long began = System.nanoTime();
        long count = 0;
        long took;
        do {
            for (int i = 0; i < 256; i++) {
                peer.arm(id, 30_000);
                peer.cancel(id);
            }
            count += 256;
            took = System.nanoTime() - began;
        } while (took < ns);
        return count * 1e9 / took;
    }

    /** Note of each timer how late it was.  Returns where. */
    private long[] noteHowLate() {
        firings.dueNs = new long[n];
        firings.lateNs = new long[n];
        Arrays.fill(firings.lateNs, Long.MIN_VALUE);
        return firings.lateNs;
    }

    private void late() {
        boolean isMany = n > 100_000;
        long leadMs = isMany ? 2_000 : 500;
        long spanMs = isMany ? 5_000 : 2_000;
        long[] late = noteHowLate();
        Dice dice = new Dice(seed);
        long began = System.nanoTime();
        for (int id = 0; id < n; id++) {
            long delay = leadMs + dice.below(spanMs);
            firings.dueNs[id] = System.nanoTime() + delay * MS;
            peer.arm(id, delay);
        }
        long cpu = Machine.cpuNs();
        if (System.nanoTime() - began > leadMs * MS)
            throw new IllegalStateException("arming took longer than " + leadMs + " ms");
        Machine.sleepUntil(began + (leadMs + spanMs) * MS);
        firings.await(n);
        results.say("cpu_ns", (double) (Machine.cpuNs() - cpu) / n);
        sayHowLate(late);
    }

    /** As many have fired as there are; if none is missing, each did once. */
    private void sayHowLate(long[] late) {
        Arrays.sort(late);
        if (late[0] == Long.MIN_VALUE)
            throw new IllegalStateException("some fired twice and some never");
        for (double percent : PERCENTS) {
            String name = String.valueOf(percent).replaceFirst("\\.0$", "");
            results.say("late_us_" + name, late[(int) (percent / 100 * (n - 1))] / 1e3);
        }
        results.say("early", Arrays.stream(late).filter(ns -> ns < 0).count());
    }

    /** Sleep, and say which part of a core the process took. */
    private double percentWhileAsleep(long ns) {
        long cpu = Machine.cpuNs();
        long began = System.nanoTime();
        Machine.sleepUntil(began + ns);
        return 100.0 * (Machine.cpuNs() - cpu) / (System.nanoTime() - began);
    }

    private void idle() {
        Dice dice = new Dice(seed);
        for (int id = 0; id < n; id++)
            peer.arm(id, 600_000 + dice.below(600_000));
        Machine.sleepUntil(System.nanoTime() + SECOND);
        results.say("percent", percentWhileAsleep(3 * SECOND));
        firings.expect(0);
    }

    /**
     * A timer that fires while we move it may then be armed twice.  That is
     * once in many runs and does not change the result, so we take no lock.
     */
    private void d1() {
        firings.renewer = peer;
        firings.renewMs = 30_000;
        long[] delays = new long[n];
        Dice dice = new Dice(seed);
        for (int id = 0; id < n; id++) {
            delays[id] = 1 + dice.below(30_000);
            peer.arm(id, delays[id]);
        }
        long began = System.nanoTime();
        packets(began, 1, 300);
        long cpu = Machine.cpuNs();
        long from = System.nanoTime();
        packets(began, 301, 800);
        results.say("percent", 100.0 * (Machine.cpuNs() - cpu) / (System.nanoTime() - from));
        expectFiredOf(delays);
    }

    private void packets(long began, int from, int to) {
        for (long period = from; period <= to; period++) {
            Machine.sleepUntil(began + period * 10 * MS);
            for (long at = (period - 1) * n / 2_250; at < period * n / 2_250; at++)
                peer.move(order[(int) at], 30_000);
        }
    }

    /** As many as fire before their packet comes, give or take two seconds. */
    private void expectFiredOf(long[] delays) {
        long fewest = firedBeforePacket(delays, -2_000);
        long most = firedBeforePacket(delays, 2_000);
        if (firings.count() < fewest || firings.count() > most)
            throw new IllegalStateException(
                    firings.count() + " have fired and not " + fewest + " to " + most);
    }

    private long firedBeforePacket(long[] delays, long slackMs) {
        long count = 0;
        for (int at = 0; at < n; at++) {
            long packetMs = (long) at * 22_500 / n;
            count += delays[order[at]] < Math.min(packetMs, 8_000) + slackMs ? 1 : 0;
        }
        return count;
    }

    private void d2() {
        long live = Machine.liveBytes();
        long began = System.nanoTime();
        for (int id = 0; id < n; id++)
            peer.arm(id, 1_800_000);
        results.say("arm_ns", (double) (System.nanoTime() - began) / n);
        results.say("bytes", (double) (Machine.liveBytes() - live) / n);
        Machine.sleepUntil(System.nanoTime() + SECOND);
        results.say("percent", percentWhileAsleep(2 * SECOND));
        for (int id = 0; id < n; id++)
            peer.cancel(id);
        firings.expect(0);
        drain();
    }

    private void drain() {
        long[] late = noteHowLate();
        long instant = System.nanoTime() + 3 * SECOND;
        Arrays.fill(firings.dueNs, instant);
        for (int id = 0; id < n; id++)
            peer.arm(id, (instant - System.nanoTime() + MS - 1) / MS);
        if (System.nanoTime() > instant)
            throw new IllegalStateException("arming took longer than 3 s");
        long cpu = Machine.cpuNs();
        Machine.sleepUntil(instant);
        firings.await(n);
        results.say("cpu_ns", (double) (Machine.cpuNs() - cpu) / n);
        results.say("drain_ms", (double) Arrays.stream(late).max().getAsLong() / MS);
    }

    private void d3() {
        long live = Machine.liveBytes();
        for (int id = 0; id < n; id++)
            peer.arm(id, 30_000);
        Dice dice = Dice.forMoves(seed);
        cancelAndArmFor(SECOND, dice);
        results.say("million_a_second", cancelAndArmFor(2 * SECOND, dice) / 1e6);
        results.say("bytes", (double) (Machine.liveBytes() - live) / n);
        firings.expect(0);
    }

    /** Returns how many a second. */
    private double cancelAndArmFor(long ns, Dice dice) {
        long began = System.nanoTime();
        long count = 0;
        long took;
        do {
            for (int i = 0; i < 64; i++) {
                int id = (int) dice.below(n);
                peer.cancel(id);
                peer.arm(id, 30_000);
            }
            count += 64;
            took = System.nanoTime() - began;
        } while (took < ns);
        return count * 1e9 / took;
    }
}
