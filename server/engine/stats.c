/*
 * engine/stats.c - statistics and lists, as the YAML that clients parse.
 *
 * Keys, order and formats are those of beanstalkd 1.13.  Keys of our own follow
 * at the end.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

enum { TEXT_MAX = 4096 };

/* A text that is being written.  All texts with a fixed number of keys fit. */
struct text {
    size_t length;
    char bytes[TEXT_MAX];
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof text->bytes - text->length;
    int length = vsnprintf(text->bytes + text->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void add_number(struct text *text, const char *key, uint64_t number)
{
    add(text, "%s: %" PRIu64 "\n", key, number);
}

static struct tkd_body *body_of(struct tkd_engine *engine,
                                const struct text *text)
{
    struct tkd_body *body =
        tkd_body_open(&engine->allocator, (uint32_t)text->length);
    if (body != NULL)
        memcpy(body->bytes, text->bytes, text->length);
    return body;
}

static uint64_t seconds(uint64_t ns)
{
    return ns / NS_PER_SECOND;
}

static uint64_t seconds_until(const struct tkd_engine *engine, uint64_t at_ns)
{
    return at_ns > engine->now_ns ? seconds(at_ns - engine->now_ns) : 0;
}

static void add_jobs(struct text *text, const struct job_counts *in,
                     uint32_t far)
{
    add_number(text, "current-jobs-urgent", in->urgent);
    add_number(text, "current-jobs-ready", in->ready);
    add_number(text, "current-jobs-reserved", in->reserved);
    add_number(text, "current-jobs-delayed", (uint64_t)in->delayed + far);
    add_number(text, "current-jobs-buried", in->buried);
}

static void add_commands(struct text *text, const struct tkd_engine *engine)
{
    static const struct {
        const char *key;
        enum tkd_verb verb;
    } rows[] = {
        {"cmd-put", TKD_PUT},
        {"cmd-peek", TKD_PEEK},
        {"cmd-peek-ready", TKD_PEEK_READY},
        {"cmd-peek-delayed", TKD_PEEK_DELAYED},
        {"cmd-peek-buried", TKD_PEEK_BURIED},
        {"cmd-reserve", TKD_RESERVE},
        {"cmd-reserve-with-timeout", TKD_RESERVE_WITH_TIMEOUT},
        {"cmd-delete", TKD_DELETE},
        {"cmd-release", TKD_RELEASE},
        {"cmd-use", TKD_USE},
        {"cmd-watch", TKD_WATCH},
        {"cmd-ignore", TKD_IGNORE},
        {"cmd-bury", TKD_BURY},
        {"cmd-kick", TKD_KICK},
        {"cmd-touch", TKD_TOUCH},
        {"cmd-stats", TKD_STATS},
        {"cmd-stats-job", TKD_STATS_JOB},
        {"cmd-stats-tube", TKD_STATS_TUBE},
        {"cmd-list-tubes", TKD_LIST_TUBES},
        {"cmd-list-tube-used", TKD_LIST_TUBE_USED},
        {"cmd-list-tubes-watched", TKD_LIST_TUBES_WATCHED},
        {"cmd-pause-tube", TKD_PAUSE_TUBE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_number(text, rows[i].key, engine->counts.commands[rows[i].verb]);
}

static void add_time(struct text *text, const char *key, uint64_t us)
{
    add(text, "%s: %" PRIu64 ".%06" PRIu64 "\n", key, us / 1000000,
        us % 1000000);
}

static void add_process(struct text *text, const struct tkd_engine *engine)
{
    const struct tkd_facts *facts = &engine->facts;
    add_number(text, "pid", facts->pid);
    add(text, "version: \"%s\"\n", facts->version);
    add_time(text, "rusage-utime", facts->user_us);
    add_time(text, "rusage-stime", facts->system_us);
    add_number(text, "uptime", seconds(engine->now_ns - engine->start_ns));
    add_number(text, "binlog-oldest-index", 0);
    add_number(text, "binlog-current-index", 0);
    add_number(text, "binlog-records-migrated", 0);
    add_number(text, "binlog-records-written", 0);
    add_number(text, "binlog-max-size", 10485760);
    add(text, "draining: %s\n", engine->is_draining ? "true" : "false");
    add(text, "id: %s\n", facts->id);
    add(text, "hostname: \"%s\"\n", facts->hostname);
    add(text, "os: \"%s\"\n", facts->os);
    add(text, "platform: \"%s\"\n", facts->platform);
}

static void add_store(struct text *text, const struct tkd_engine *engine)
{
    struct tkd_store_figures figures;
    tkd_store_measure(engine->store, &figures);
    add_number(text, "memory-bytes", engine->memory);
    add_number(text, "cache-bytes", engine->cached);
    add_number(text, "window-jobs-far", engine->far);
    add_number(text, "window-seconds",
               engine->store->is_volatile
                   ? 0
                   : seconds_until(engine, engine->window.end_ns));
    add_number(text, "store-batches", figures.batches);
    add_number(text, "store-writes", figures.writes);
    add_number(text, "store-commit-us", figures.commit_ns / 1000);
    add_number(text, "store-commit-us-max", figures.commit_ns_max / 1000);
}

struct tkd_body *tkd__stats_all(struct tkd_engine *engine)
{
    struct text text = {0};
    add(&text, "---\n");
    add_jobs(&text, &engine->jobs_in, engine->far);
    add_commands(&text, engine);
    add_number(&text, "job-timeouts", engine->counts.timeouts);
    add_number(&text, "total-jobs", engine->counts.total_jobs);
    add_number(&text, "max-job-size", engine->body_max);
    add_number(&text, "current-tubes", engine->tube_count);
    add_number(&text, "current-connections", engine->client_count);
    add_number(&text, "current-producers", engine->producer_count);
    add_number(&text, "current-workers", engine->worker_count);
    add_number(&text, "current-waiting", engine->waiting_count);
    add_number(&text, "total-connections", engine->counts.total_clients);
    add_process(&text, engine);
    add_store(&text, engine);
    return body_of(engine, &text);
}

struct tkd_body *tkd__stats_tube(struct tkd_engine *engine,
                                 const struct tube *tube)
{
    struct text text = {0};
    add(&text, "---\nname: \"%.*s\"\n", tube->name_length, tube->name);
    add_jobs(&text, &tube->in, tube->far);
    add_number(&text, "total-jobs", tube->total_jobs);
    add_number(&text, "current-using", tube->using_count);
    add_number(&text, "current-watching", tube->watching_count);
    add_number(&text, "current-waiting", tube->waiting_count);
    add_number(&text, "cmd-delete", tube->deletes);
    add_number(&text, "cmd-pause-tube", tube->pauses);
    add_number(&text, "pause", seconds(tube->pause_ns));
    add_number(&text, "pause-time-left",
               tube_is_paused(tube) ? seconds_until(engine, tube->pause_end_ns)
                                    : 0);
    return body_of(engine, &text);
}

static const char *word_of(enum state state)
{
    switch (state) {
    case STATE_DELAYED:
        return "delayed";
    case STATE_READY:
        return "ready";
    case STATE_RESERVED:
        return "reserved";
    case STATE_BURIED:
        return "buried";
    case STATE_MOVING:
    case STATE_DELETED:
    case STATE_ASKED:
        break;
    }
    return "invalid";
}

static uint64_t time_left(const struct tkd_engine *engine,
                          const struct job *job)
{
    if (job->state == STATE_RESERVED && job->is_chosen)
        return seconds(job->ttr_ns);
    if (job->state == STATE_DELAYED || job->state == STATE_RESERVED)
        return seconds_until(engine, job->due_ns);
    return 0;
}

struct tkd_body *tkd__stats_job(struct tkd_engine *engine,
                                const struct job *job)
{
    struct text text = {0};
    const struct tube *tube = job->tube;
    add(&text, "---\n");
    add_number(&text, "id", job->id);
    add(&text, "tube: \"%.*s\"\n", tube->name_length, tube->name);
    add(&text, "state: %s\n", word_of((enum state)job->state));
    add_number(&text, "pri", job->pri);
    add_number(&text, "age", seconds(engine->now_ns - job->created_ns));
    add_number(&text, "delay", seconds(job->delay_ns));
    add_number(&text, "ttr", seconds(job->ttr_ns));
    add_number(&text, "time-left", time_left(engine, job));
    add_number(&text, "file", 0);
    add_number(&text, "reserves", job->reserves);
    add_number(&text, "timeouts", job->timeouts);
    add_number(&text, "releases", job->releases);
    add_number(&text, "buries", job->buries);
    add_number(&text, "kicks", job->kicks);
    return body_of(engine, &text);
}

/* A list of names: a line "---", and a line "- NAME" for each. */

static const char list_head[] = "---\n";

enum { AROUND_NAME = sizeof "- \n" - 1 };

static char *append(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static char *append_tube(char *at, const struct tube *tube)
{
    at = append(at, "- ", 2);
    at = append(at, tube->name, tube->name_length);
    return append(at, "\n", 1);
}

static struct tkd_body *open_list(struct tkd_engine *engine, size_t size)
{
    if (size > UINT32_MAX)
        return NULL;
    struct tkd_body *body = tkd_body_open(&engine->allocator, (uint32_t)size);
    if (body != NULL)
        append(body->bytes, list_head, sizeof list_head - 1);
    return body;
}

static struct tube *tube_of(const struct link *link)
{
    return TKW_CONTAINER(link, struct tube, all);
}

struct tkd_body *tkd__list_tubes(struct tkd_engine *engine)
{
    const struct link *head = &engine->all_tubes;
    size_t size = sizeof list_head - 1;
    for (struct link *link = head->next; link != head; link = link->next)
        size += AROUND_NAME + (size_t)tube_of(link)->name_length;
    struct tkd_body *body = open_list(engine, size);
    if (body == NULL)
        return NULL;
    char *at = body->bytes + sizeof list_head - 1;
    for (struct link *link = head->next; link != head; link = link->next)
        at = append_tube(at, tube_of(link));
    return body;
}

struct tkd_body *tkd__list_watched(struct tkd_client *client)
{
    size_t size = sizeof list_head - 1;
    for (uint32_t i = 0; i < client->watched_count; i++)
        size += AROUND_NAME + (size_t)client->watched[i].tube->name_length;
    struct tkd_body *body = open_list(client->engine, size);
    if (body == NULL)
        return NULL;
    char *at = body->bytes + sizeof list_head - 1;
    for (uint32_t i = 0; i < client->watched_count; i++)
        at = append_tube(at, client->watched[i].tube);
    return body;
}
