import com.surftools.BeanstalkClient.Client;
import com.surftools.BeanstalkClient.Job;
import com.surftools.BeanstalkClientImpl.ClientImpl;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A job's life with the client com.surftools:BeanstalkClient.
 *
 * usage: java -cp CLIENT.jar Scenario.java PORT
 */
public class Scenario {
    private static final int DELAY = 1;

    private static void check(String name, Object found, Object wanted) {
        if (Objects.equals(found, wanted))
            System.out.println("ok " + name);
        else
            System.out.println("failed " + name + ": " + found + " instead of "
                               + wanted);
    }

    /** A value of statistics, without the quotes that a server may print. */
    private static String value(Map<String, String> statistics, String key) {
        String text = statistics.get(key);
        return text == null ? null : text.trim().replaceAll("^\"|\"$", "");
    }

    private static long delayed(Client client, byte[] body) {
        long id = client.put(7, DELAY, 60, body);
        check("a delayed job is not reserved", client.reserve(0), null);
        check("peek-delayed finds it", client.peekDelayed().getJobId(), id);
        check("its statistics say so", value(client.statsJob(id), "state"),
              "delayed");
        return id;
    }

    private static void moved(Client client, long id) {
        check("it is touched", client.touch(id), true);
        check("it is released", client.release(id, 3, 0), true);
        check("a released job is ready", value(client.statsJob(id), "state"),
              "ready");
        check("its priority is new", value(client.statsJob(id), "pri"), "3");
        client.reserve(0);
        check("it is buried", client.bury(id, 3), true);
        check("peek-buried finds a buried job",
              client.peekBuried().getJobId(), id);
        check("kick counts it", client.kick(10), 1);
        check("peek-ready finds a kicked job", client.peekReady().getJobId(),
              id);
    }

    private static void counted(Client client) {
        Map<String, String> tube = client.statsTube("mail");
        check("the tube's statistics",
              List.of(value(tube, "name"), value(tube, "total-jobs"),
                      value(tube, "cmd-delete")),
              List.of("mail", "1", "1"));
        Map<String, String> server = client.stats();
        check("the server's statistics",
              List.of(value(server, "cmd-bury"),
                      value(server, "current-jobs-ready")),
              List.of("1", "0"));
    }

    public static void main(String[] words) {
        Client client = new ClientImpl("127.0.0.1", Integer.parseInt(words[0]));
        client.useTube("mail");
        client.watch("mail");
        client.ignore("default");
        check("a new server has no jobs", value(client.stats(), "total-jobs"),
              "0");

        byte[] body = {'a', '\n', 'b', 0}; // the client reads no CRLF in a body
        long start = System.nanoTime();
        long id = delayed(client, body);
        Job job = client.reserve(10);
        check("it is reserved", job.getJobId(), id);
        check("with its body", Arrays.equals(job.getData(), body), true);
        check("not before its delay ends",
              System.nanoTime() - start >= DELAY * 1_000_000_000L, true);
        moved(client, id);

        client.reserve(0);
        check("it is deleted", client.delete(id), true);
        check("a deleted job is gone", client.peek(id), null);
        counted(client);
        client.close();
    }
}
