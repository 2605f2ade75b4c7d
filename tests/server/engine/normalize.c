/*
 * server/engine/normalize.c - replies whose order or whose lines are the
 * engine's choice.
 */
#include "trial.h"

/* Replace a reply by one with this YAML. */
static void replace(struct bytes *reply, const struct bytes *yaml)
{
    char line[32];
    int length = snprintf(line, sizeof line, "OK %zu\r\n", yaml->size);
    bytes_clear(reply);
    bytes_append(reply, line, (size_t)length);
    bytes_append(reply, yaml->data, yaml->size);
    bytes_append(reply, "\r\n", 2);
}

/* Remove the lines of the binlog, and those after "platform". */
static void normalize_stats(struct bytes *reply)
{
    struct bytes yaml = {0};
    const char *line = strstr(reply->data, "---\n");
    while (line != NULL && *line != '\r' && strchr(line, '\n') != NULL) {
        const char *end = strchr(line, '\n') + 1;
        if (strncmp(line, "binlog-", 7) != 0)
            bytes_append(&yaml, line, (size_t)(end - line));
        if (strncmp(line, "platform:", 9) == 0)
            break;
        line = end;
    }
    if (yaml.size > 0)
        replace(reply, &yaml);
    bytes_free(&yaml);
}

/* Put the known tubes in the order of their numbers.  A list with other lines
 * stays as it is. */
static void normalize_list(struct bytes *reply)
{
    struct bytes yaml = {0};
    bytes_append(&yaml, "---\n", 4);
    for (unsigned t = 0; t < MODEL_TUBES; t++) {
        char line[TKD_TUBE_MAX + 8];
        int length = snprintf(line, sizeof line, "\n- %s\n", model_tubes[t]);
        if (strstr(reply->data, line) != NULL)
            bytes_append(&yaml, line + 1, (size_t)length - 1);
    }
    size_t header = strcspn(reply->data, "\n") + 1;
    if (reply->size == header + yaml.size + 2)
        replace(reply, &yaml);
    bytes_free(&yaml);
}

void trial_normalize(struct bytes *reply, enum tkd_verb verb)
{
    if (reply->size == 0)
        return;
    if (verb == TKD_STATS)
        normalize_stats(reply);
    if (verb == TKD_LIST_TUBES || verb == TKD_LIST_TUBES_WATCHED)
        normalize_list(reply);
}
