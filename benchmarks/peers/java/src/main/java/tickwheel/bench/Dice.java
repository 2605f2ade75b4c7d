package tickwheel.bench;

/** The random numbers that all languages share. */
final class Dice {
    static final int LIMIT_UNIFORM_MS = 60_000;
    static final int LIMIT_LOG_UNIFORM_MS = 3_600_000;

    private long state;

    Dice(long seed) {
        state = seed;
    }

    /** For moving timers: other numbers than those they were armed with. */
    static Dice forMoves(long seed) {
        return new Dice(seed ^ 0x9e3779b97f4a7c15L);
    }

    private long random() {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return state;
    }

    long below(long bound) {
        return ((random() >>> 32) * bound) >>> 32;
    }

    long delay(boolean isUniform) {
        if (isUniform)
            return 1 + below(LIMIT_UNIFORM_MS);
        for (;;) {
            long octave = 1L << below(22);
            long delay = octave + below(octave);
            if (delay <= LIMIT_LOG_UNIFORM_MS)
                return delay;
        }
    }

    static int[] order(int n, long seed) {
        Dice dice = new Dice(seed);
        int[] order = new int[n];
        for (int i = 0; i < n; i++)
            order[i] = i;
        for (int i = n; i >= 2; i--) {
            int other = (int) dice.below(i);
            int swapped = order[i - 1];
            order[i - 1] = order[other];
            order[other] = swapped;
        }
        return order;
    }

    /** The answer to `dice`. */
    static String sample(int n, boolean isUniform, long seed) {
        Dice dice = new Dice(seed);
        int[] order = order(n, seed);
        StringBuilder delays = new StringBuilder("delays");
        StringBuilder orders = new StringBuilder("order");
        long sum = 0;
        for (int i = 0; i < n; i++) {
            long delay = dice.delay(isUniform);
            if (i < 8) {
                delays.append(' ').append(delay);
                orders.append(' ').append(order[i]);
            }
            sum += (i + 1) * (delay + order[i]);
        }
        return delays + "\n" + orders + "\nsum " + Long.toUnsignedString(sum);
    }
}
