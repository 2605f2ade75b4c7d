package tickwheel.bench;

import io.netty.util.HashedWheelTimer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.DeadlineTimerWheel;
import org.apache.kafka.server.util.timer.SystemTimer;

/** Answers the questions of ../README.md. */
public final class Main {
    private static final List<String> REAL = List.of(
            "real-calls", "real-pairs-1", "real-pairs-2", "real-late", "real-idle", "real-d1",
            "real-d2", "real-d3");
    private static final List<String> VIRTUAL = List.of(
            "arm", "cancel", "cancel+drop", "rearm", "touch", "fire-steps", "worst-step", "empty",
            "bytes", "d1", "d2", "d3");
    private static final String NO_VIRTUAL = "\"\": \"has a clock of its own\"";
    private static final String NO_REAL = "\"\": \"has no clock and no thread\"";

    private Main() {
    }

    public static void main(String[] arguments) {
        try {
            System.out.println(answer(arguments));
            System.exit(0);
        } catch (RuntimeException | OutOfMemoryError failure) {
            System.err.println(failure);
            System.exit(1);
        }
    }

    private static String answer(String[] words) {
        String question = words.length == 0 ? "" : words[0];
        if (question.equals("describe") && words.length == 1)
            return describe();
        if (question.equals("dice") && words.length == 4)
            return Dice.sample(Integer.parseInt(words[1]), isUniform(words[2]), seed(words[3]));
        if (question.equals("run") && words.length == 6)
            return run(words[1], words[2], Integer.parseInt(words[3]), isUniform(words[4]),
                       seed(words[5])).toString();
        throw new IllegalArgumentException(
                "describe | dice N DELAYS SEED | run PEER WORKLOAD N DELAYS SEED");
    }

    private static boolean isUniform(String delays) {
        return switch (delays) {
            case "uniform" -> true;
            case "log-uniform" -> false;
            default -> throw new IllegalArgumentException("no delays " + delays);
        };
    }

    private static long seed(String word) {
        return Long.parseUnsignedLong(word);
    }

    private static Results run(String peer, String workload, int n, boolean isUniform, long seed) {
        return switch (peer) {
            case "kafka" -> RealWorkloads.run(workload, KafkaPeer::new, n, seed);
            case "netty" -> RealWorkloads.run(workload, NettyPeer::new, n, seed);
            case "jdk" -> RealWorkloads.run(workload, JdkPeer::new, n, seed);
            case "kafka_wheel" ->
                VirtualWorkloads.run(workload, KafkaWheelPeer::new, n, isUniform, seed);
            case "agrona" -> VirtualWorkloads.run(workload, AgronaPeer::new, n, isUniform, seed);
            default -> throw new IllegalArgumentException("no peer " + peer);
        };
    }

    private static String describe() {
        String flags = String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments());
        String java = System.getProperty("java.version");
        String kafka = versionOf(SystemTimer.class);
        return String.format("{\"language\": \"Java\", \"toolchain\": \"%s %s\",\n"
                + " \"flags\": \"%s\",\n \"peers\": [\n%s]}",
                System.getProperty("java.vm.name"), java, flags, String.join(",\n",
                        peer("kafka", "Kafka SystemTimer", kafka,
                             "tick 1 ms, 20 slots a level, Kafka's reaper thread", REAL,
                             NO_VIRTUAL),
                        peer("kafka_wheel", "Kafka TimingWheel", kafka,
                             "tick 1 ms, 20 slots a level; driven like SystemTimer from a class in"
                             + " its package, without its clock, executor and read-write lock",
                             withJumps(), NO_REAL),
                        peer("netty", "Netty HashedWheelTimer", versionOf(HashedWheelTimer.class),
                             "tick 1 ms, " + NettyPeer.SLOTS + " slots (512 by default), leak detection off",
                             REAL, NO_VIRTUAL),
                        peer("agrona", "Agrona DeadlineTimerWheel",
                             versionOf(DeadlineTimerWheel.class),
                             "tick 1 ms; " + AgronaPeer.TICKS_FOR_FEW + " ticks a wheel up to "
                             + AgronaPeer.FEW + " timers, else " + AgronaPeer.TICKS_FOR_MANY
                             + "; room in each tick beforehand", VIRTUAL,
                             "\"fire-jumps\": \"does not say what is next\", " + NO_REAL),
                        peer("jdk", "JDK ScheduledThreadPoolExecutor", java,
                             "1 thread, removes what is cancelled", REAL, NO_VIRTUAL)));
    }

    private static String peer(String name, String title, String version, String settings,
                               List<String> can, String cannot) {
        String quoted = can.stream().collect(Collectors.joining("\", \"", "\"", "\""));
        return String.format("  {\"name\": \"%s\", \"title\": \"%s\", \"version\": \"%s\",\n"
                + "   \"settings\": \"%s\",\n   \"can\": [%s],\n   \"cannot\": {%s}}",
                name, title, version, settings, quoted, cannot);
    }

    private static List<String> withJumps() {
        return Stream.concat(VIRTUAL.stream(), Stream.of("fire-jumps")).toList();
    }

    /** As its jar says, or else as the jar is named. */
    private static String versionOf(Class<?> type) {
        String version = type.getPackage().getImplementationVersion();
        if (version != null)
            return version;
        String jar = Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath())
                .getFileName().toString();
        return jar.replaceFirst("^.*?-(\\d.*)\\.jar$", "$1");
    }
}
