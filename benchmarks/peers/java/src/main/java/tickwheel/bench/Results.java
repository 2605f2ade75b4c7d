package tickwheel.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The answer to `run`.  Made into text at the end: to format takes some memory,
 * which might be measured just then.
 */
final class Results {
    private final Map<String, Double> numbers = new LinkedHashMap<>();

    void say(String name, double number) {
        numbers.put(name, number);
    }

    @Override
    public String toString() {
        StringBuilder lines = new StringBuilder();
        numbers.forEach((name, number) ->
                lines.append(String.format(Locale.ROOT, "%s %.4f%n", name, number)));
        return lines.toString().stripTrailing();
    }
}
