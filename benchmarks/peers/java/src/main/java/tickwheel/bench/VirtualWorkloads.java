package tickwheel.bench;

/** Every workload in virtual time, around one peer. */
final class VirtualWorkloads {
    private static final int OPS_MIN = 1_000_000;
    private static final int WARM_UP_N_MAX = 100_000;
    private static final long WARM_UP_NS = 2_000_000_000L;
    private static final long REPEAT_NS_MAX = 10_000_000_000L;

    private static final int MOVES = 5_000_000;
    private static final int EMPTY_STEPS = 2_000_000;
    private static final long FAR = 1L << 40;
    private static final int LIMIT_MS = 30_000;

    private final VirtualPeer.Maker maker;
    private final int n;
    private final boolean isUniform;
    private final long seed;
    private final int[] order;
    private VirtualPeer peer;

    /* What one run has measured. */
    private long began;
    private long took;
    private long ops;
    private long worst;

    VirtualWorkloads(VirtualPeer.Maker maker, int n, boolean isUniform, long seed) {
        this.maker = maker;
        this.n = n;
        this.isUniform = isUniform;
        this.seed = seed;
        this.order = Dice.order(n, seed);
    }

    /** Warm up, measure, and say the results. */
    static Results run(String workload, VirtualPeer.Maker maker, int n, boolean isUniform,
                       long seed) {
        var warmUp = new VirtualWorkloads(maker, Math.min(n, WARM_UP_N_MAX), isUniform, seed);
        var measured = new VirtualWorkloads(maker, n, isUniform, seed);
        Results results = new Results();
        if (workload.equals("bytes")) {
            warmUp.bytes();
            results.say("bytes", measured.bytes());
            return results;
        }
        for (long start = System.nanoTime(); System.nanoTime() - start < WARM_UP_NS;)
            warmUp.measureOnce(workload);
        measured.measure(workload, results);
        return results;
    }

    /**
     * The mean of as many runs as make a million operations.  Few timers over
     * many steps would take minutes: ten seconds are enough.
     */
    private void measure(String workload, Results results) {
        long sumTook = 0;
        long sumOps = 0;
        long sumWorst = 0;
        int runs = 0;
        long start = System.nanoTime();
        do {
            measureOnce(workload);
            sumTook += took;
            sumOps += ops;
            sumWorst += worst;
            runs++;
        } while (!workload.equals("worst-step") && sumOps < OPS_MIN
                 && System.nanoTime() - start < REPEAT_NS_MAX);

        double meanNs = (double) sumTook / sumOps;
        double worstNs = (double) sumWorst / runs;
        results.say("ns", workload.equals("worst-step") ? worstNs : meanNs);
        if (workload.equals("d2"))
            results.say("worst_ns", worstNs);
    }

    private void measureOnce(String workload) {
        switch (workload) {
            case "arm" -> arm();
            case "cancel" -> cancel(false);
            case "cancel+drop" -> cancel(true);
            case "rearm" -> rearm();
            case "touch" -> touch();
            case "fire-steps" -> fireSteps();
            case "fire-jumps" -> fireJumps();
            case "worst-step" -> worstStep();
            case "empty" -> empty();
            case "d1" -> d1();
            case "d2" -> d2();
            case "d3" -> d3();
            default -> throw new IllegalArgumentException("no workload " + workload);
        }
    }

    private void open(long renewMs) {
        peer = maker.make(n, renewMs);
        peer.open();
    }

    /** Begin to time, and do not pay for the garbage of what was before. */
    private void begin() {
        if (n >= WARM_UP_N_MAX)
            System.gc();
        began = System.nanoTime();
    }

    private void end(long operations) {
        took = System.nanoTime() - began;
        ops = operations;
    }

    private void expect(String what, long is, long mustBe) {
        if (is != mustBe)
            throw new IllegalStateException(what + " are " + is + " and not " + mustBe);
    }

    private int limit() {
        return isUniform ? Dice.LIMIT_UNIFORM_MS : Dice.LIMIT_LOG_UNIFORM_MS;
    }

    private long atMost20Each(long operations) {
        return Math.min(operations, 20L * n);
    }

    private void armAll(long from) {
        Dice dice = new Dice(seed);
        for (int id = 0; id < n; id++)
            peer.arm(id, from + dice.delay(isUniform));
    }

    /** Returns the dice, to go on with. */
    private Dice armAllWithinLimit() {
        Dice dice = new Dice(seed);
        for (int id = 0; id < n; id++)
            peer.arm(id, 1 + dice.below(LIMIT_MS));
        return dice;
    }

    private void arm() {
        open(0);
        begin();
        armAll(0);
        end(n);
        expect("armed", peer.pending(), n);
    }

    private double bytes() {
        peer = maker.make(n, 0);
        long before = Machine.liveBytes();
        peer.open();
        armAll(0);
        long after = Machine.liveBytes();
        expect("armed", peer.pending(), n);
        return (double) (after - before) / n;
    }

    private void cancel(boolean isDropped) {
        open(0);
        armAll(0);
        begin();
        for (int id : order)
            peer.cancel(id);
        if (isDropped)
            peer.advance(limit());
        end(n);
        expect("armed", peer.pending(), 0);
        expect("fired", peer.fired, 0);
    }

    private void rearm() {
        open(0);
        armAll(0);
        long moves = atMost20Each(MOVES);
        Dice dice = Dice.forMoves(seed);
        begin();
        for (long i = 0; i < moves; i++) {
            int id = (int) dice.below(n);
            peer.move(id, dice.delay(isUniform));
        }
        end(moves);
        expect("armed", peer.pending(), n);
    }

    private void fireSteps() {
        open(0);
        armAll(0);
        begin();
        for (long now = 1; now <= limit(); now++)
            peer.advance(now);
        end(n);
        expect("fired", peer.fired, n);
    }

    private void fireJumps() {
        open(0);
        armAll(0);
        begin();
        for (long now; (now = peer.next()) != Long.MAX_VALUE;)
            peer.advance(now);
        end(n);
        expect("fired", peer.fired, n);
    }

    private void worstStep() {
        open(0);
        armAll(0);
        begin();
        worst = longestStep(1, limit());
        end(n);
        expect("fired", peer.fired, n);
    }

    private long longestStep(long from, long to) {
        long longest = 0;
        long before = System.nanoTime();
        for (long now = from; now <= to; now++) {
            peer.advance(now);
            long after = System.nanoTime();
            longest = Math.max(longest, after - before);
            before = after;
        }
        return longest;
    }

    private void empty() {
        open(0);
        armAll(FAR);
        long steps = atMost20Each(EMPTY_STEPS);
        begin();
        for (long now = 1; now <= steps; now++)
            peer.advance(now);
        end(steps);
        expect("fired", peer.fired, 0);
    }

    /** All timers are moved once in `everyMs`, unless they are silent. */
    private long packets(long from, long to, long everyMs, boolean hasSilent) {
        long moves = 0;
        int at = (int) ((from - 1) * n / everyMs % n);
        for (long now = from; now < to; now++) {
            peer.advance(now);
            long due = now * n / everyMs - (now - 1) * n / everyMs;
            for (long i = 0; i < due; i++) {
                int id = order[at];
                at = at + 1 < n ? at + 1 : 0;
                if (hasSilent && id % 100 == 0)
                    continue;
                peer.move(id, now + LIMIT_MS);
                moves++;
            }
        }
        return moves;
    }

    /** No timer fires once all were moved: the packets come sooner. */
    private void touch() {
        open(LIMIT_MS);
        armAllWithinLimit();
        long length = Math.max(LIMIT_MS, atMost20Each(MOVES) * 10_000 / n);
        packets(1, 20_000, 10_000, false);
        peer.fired = 0;
        begin();
        end(packets(20_000, 20_000 + length, 10_000, false));
        expect("armed", peer.pending(), n);
        expect("fired", peer.fired, 0);
    }

    /** The silent ones, and no others, fire every 30 s. */
    private void d1() {
        open(LIMIT_MS);
        armAllWithinLimit();
        packets(1, 30_001, 22_500, true);
        peer.fired = 0;
        begin();
        end(packets(30_001, 90_001, 22_500, true));
        expect("armed", peer.pending(), n);
        expect("fired", peer.fired, 2 * ((n + 99) / 100));
    }

    /** Once for the mean; then once more with a clock read at each step. */
    private void d2() {
        long last = 1_801_000;
        open(0);
        begin();
        armInWaves();
        for (long now = 1_001; now <= last; now++)
            peer.advance(now);
        end(n / 1_000 * 1_000);
        expect("fired", peer.fired, n / 1_000 * 1_000);

        open(0);
        armInWaves();
        worst = longestStep(1_001, last);
        expect("fired", peer.fired, n / 1_000 * 1_000);
    }

    private void armInWaves() {
        int id = 0;
        for (long now = 1; now <= 1_000; now++) {
            peer.advance(now);
            for (int end = id + n / 1_000; id < end; id++)
                peer.arm(id, now + 1_800_000);
        }
    }

    private void d3() {
        open(LIMIT_MS);
        Dice dice = armAllWithinLimit();
        cancelAndArm(dice, 1, 10_000);
        begin();
        cancelAndArm(dice, 10_001, 70_000);
        end(60_000 * 100);
        expect("armed", peer.pending(), n);
    }

    private void cancelAndArm(Dice dice, long from, long to) {
        for (long now = from; now <= to; now++) {
            peer.advance(now);
            for (int i = 0; i < 100; i++) {
                int id = (int) dice.below(n);
                peer.cancel(id);
                peer.arm(id, now + LIMIT_MS);
            }
        }
    }
}
