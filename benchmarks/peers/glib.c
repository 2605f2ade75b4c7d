/*
 * glib.c - timeout sources of GLib's main loop, which looks at every source on
 * every pass.
 *
 * To move a timer another source is made: that is cheaper than to set the ready
 * time of one, which writes to a file each time, to wake the loop.
 */
#include "loop.h"

#include <glib.h>
#include <stdio.h>

struct timers {
    GMainContext *context;
    GSource **all; /* those that are attached, which the context owns */
    GSourceFunc call;
};

/* What the callbacks work for: they get the number of the timer. */
static void *owner;

static void timers_open(struct timers *timers, size_t n, GSourceFunc call)
{
    timers->context = g_main_context_new();
    timers->all = bench_memory(n * sizeof(GSource *));
    timers->call = call;
}

static void timers_close(struct timers *timers)
{
    g_main_context_unref(timers->context);
    free(timers->all);
}

/* As far away as it goes, at most. */
static inline void start(struct timers *timers, uint32_t id, uint64_t delay_ms)
{
    GSource *source = g_timeout_source_new(
        delay_ms < G_MAXUINT ? (guint)delay_ms : G_MAXUINT);
    g_source_set_callback(source, timers->call, GUINT_TO_POINTER(id), NULL);
    g_source_attach(source, timers->context);
    g_source_unref(source);
    timers->all[id] = source;
}

static inline void stop(struct timers *timers, uint32_t id)
{
    g_source_destroy(timers->all[id]);
}

/* Virtual time. */

struct state {
    struct timers timers;
    struct expired expired;
    uint64_t now;
};

static gboolean put(gpointer id)
{
    struct state *s = owner;
    expired_put(&s->expired, GPOINTER_TO_UINT(id));
    return G_SOURCE_REMOVE;
}

static struct state *make(size_t n)
{
    field_time_is_virtual(true);
    field_set_time(0);
    struct state *s = bench_memory(sizeof *s);
    timers_open(&s->timers, n, put);
    expired_open(&s->expired, n);
    owner = s;
    return s;
}

static void unmake(struct state *s)
{
    timers_close(&s->timers);
    expired_close(&s->expired);
    free(s);
    field_time_is_virtual(false);
}

static inline void arm(struct state *s, uint32_t id, uint64_t deadline)
{
    start(&s->timers, id, deadline - s->now);
}

static inline void cancel(struct state *s, uint32_t id)
{
    stop(&s->timers, id);
}

#define HAS_MOVE
static inline void move(struct state *s, uint32_t id, uint64_t deadline)
{
    cancel(s, id);
    arm(s, id, deadline);
}

static inline void advance(struct state *s, uint64_t now)
{
    s->now = now;
    field_set_time(now);
    g_main_context_iteration(s->timers.context, FALSE);
}

static inline uint32_t pop(struct state *s)
{
    return expired_take(&s->expired);
}

static inline uint64_t next(const struct state *s)
{
    GMainContext *context = s->timers.context;
    gint priority;
    gint timeout_ms;
    g_main_context_acquire(context);
    g_main_context_prepare(context, &priority);
    g_main_context_query(context, priority, &timeout_ms, NULL, 0);
    g_main_context_release(context);
    return timeout_ms < 0 ? UINT64_MAX : s->now + (uint64_t)timeout_ms;
}

#define STRUCTURE glib
#define N_MAX SIZE_MAX
#include "core/workloads.h"

/* Real time. */

struct facility {
    struct timers timers;
    bool is_over;
};

static void fired(struct facility *f, uint32_t id);

static gboolean call(gpointer id)
{
    fired(owner, GPOINTER_TO_UINT(id));
    return G_SOURCE_REMOVE;
}

static struct facility *facility_open(size_t n)
{
    struct facility *f = field_memory(1, sizeof *f);
    timers_open(&f->timers, n, call);
    owner = f;
    return f;
}

static void facility_close(struct facility *f)
{
    timers_close(&f->timers);
    free(f);
}

static inline void set(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    start(&f->timers, id, delay_ms);
}

static inline void clear(struct facility *f, uint32_t id)
{
    stop(&f->timers, id);
}

#define HAS_RESET
static inline void reset(struct facility *f, uint32_t id, uint64_t delay_ms)
{
    clear(f, id);
    set(f, id, delay_ms);
}

static gboolean end_run(gpointer is_over)
{
    *(bool *)is_over = true;
    return G_SOURCE_REMOVE;
}

static void run_until(struct facility *f, uint64_t ns)
{
    GSource *until = g_timeout_source_new((guint)ms_until(ns));
    g_source_set_callback(until, end_run, &f->is_over, NULL);
    g_source_attach(until, f->timers.context);
    g_source_unref(until);
    for (f->is_over = false; !f->is_over;)
        g_main_context_iteration(f->timers.context, TRUE);
}

#define HAS_THREADS
#include "real.h"

static const char *version(void)
{
    static char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", glib_major_version,
             glib_minor_version, glib_micro_version);
    return text;
}

const struct field_peer peer_glib = {
    .name = "glib",
    .title = "GLib main loop",
    .settings = "g_timeout_source_new() for each, g_source_destroy()",
    .version = version,
    .structure = &bench_glib,
    .real = real_workloads,
};
