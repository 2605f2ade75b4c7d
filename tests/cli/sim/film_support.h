/*
 * cli/sim/film_support.h - films of made-up traces, and finding things on them.
 */
#ifndef TESTS_CLI_SIM_FILM_SUPPORT_H
#define TESTS_CLI_SIM_FILM_SUPPORT_H

#include "picture_support.h"

#include "cli/sim/film.h"
#include "cli/sim/film_frame.h"

static inline struct trace trace_of_ops(const struct trace_op *ops,
                                        size_t count)
{
    struct trace trace = {.unit = 1, .start = ops[0].time};
    for (size_t i = 0; i < count; i++) {
        assert_true(trace_append(&trace, ops[i]));
        if (ops[i].key >= trace.key_count)
            trace.key_count = ops[i].key + 1;
    }
    return trace;
}

#define TRACE_OF(...)                                       \
    trace_of_ops((struct trace_op[]){__VA_ARGS__},          \
                 sizeof((struct trace_op[]){__VA_ARGS__}) / \
                     sizeof(struct trace_op))

/* So many timers armed at 0, for deadlines spread evenly from one to another,
 * and time that goes on in steps. */
static inline struct trace crowd(uint32_t count, tkw_tick from, tkw_tick to,
                                 tkw_tick stride)
{
    struct trace trace = {.unit = 1, .key_count = count};
    for (uint32_t i = 0; i < count; i++)
        assert_true(trace_append(
            &trace,
            (struct trace_op){.deadline = from + (to - from) * i / count,
                              .key = i,
                              .kind = TRACE_ARM}));
    for (tkw_tick now = stride; stride > 0 && now < to; now += stride)
        assert_true(trace_append(
            &trace, (struct trace_op){.time = now, .kind = TRACE_ADVANCE}));
    return trace;
}

struct scene {
    const struct engine_kind *kind;
    const struct tkw_geometry *geometry;
    uint32_t frames_max;
    tkw_tick from, to; /* 0: all */
    const char *title;
};

static inline struct replay_outcome play(const struct trace *trace,
                                         const struct scene *scene,
                                         const struct replay_watcher *watcher)
{
    struct replay_outcome outcome;
    assert_int_equal(replay(trace, scene->kind, scene->geometry, watcher, NULL,
                            NULL, &outcome),
                     0);
    return outcome;
}

static inline struct film_settings settings_of(const struct trace *trace,
                                               const struct scene *scene)
{
    struct replay_outcome outcome = play(trace, scene, NULL);
    return (struct film_settings){
        .title = scene->title != NULL ? scene->title : "a film",
        .kind = scene->kind,
        .geometry = scene->geometry,
        .frames_max = scene->frames_max,
        .events = outcome.operations + outcome.wakeups,
        .from = scene->from > 0 ? scene->from : outcome.start,
        .to = scene->to > 0 ? scene->to : outcome.end,
    };
}

/* The film of a trace, which is closed; the picture is to be freed. */
static inline char *shoot(struct trace trace, struct scene scene)
{
    struct film_settings settings = settings_of(&trace, &scene);
    struct film *film = film_open(&trace, &settings);
    assert_non_null(film);
    struct replay_watcher watcher = film_watcher(film);
    play(&trace, &scene, &watcher);

    FILE *out = tmpfile();
    assert_non_null(out);
    assert_true(film_write(film, out));
    film_close(film);
    trace_close(&trace);
    char *picture = text_of(out);
    assert_is_xml(picture);
    assert_is_in_view(picture);
    assert_texts_are_apart(picture);
    return picture;
}

static inline unsigned frame_count(const char *picture)
{
    return count_of(picture, "<g class=\"frame\">");
}

/* The beginning of a frame, from 0 on. */
static inline const char *frame_at(const char *picture, unsigned number)
{
    const char *frame = strstr(picture, "<g class=\"frame\">");
    for (; frame != NULL && number > 0; number--)
        frame = strstr(frame + 1, "<g class=\"frame\">");
    assert_non_null(frame);
    return frame;
}

/* A point in the middle of a slot of a frame whose dial has three rings of 20;
 * `height` is from its inner edge to its outer one, as a part. */
static inline struct svg_point in_slot(const char *frame, unsigned level,
                                       unsigned slot, double height)
{
    const char *dial = strstr(frame, "<use");
    double width = (double)(FRAME_RADIUS - FRAME_HOLE) / 3;
    return svg_on_circle(attribute(dial, "x"), attribute(dial, "y"),
                         FRAME_HOLE + width * (level - 1 + height),
                         (slot + 0.5) / 20);
}

static inline void assert_near(struct svg_point a, struct svg_point b)
{
    if (hypot(a.x - b.x, a.y - b.y) > 0.1)
        fail_msg("%g, %g is not %g, %g", a.x, a.y, b.x, b.y);
}

/* How far a point is from a line that ends on both sides. */
static inline double distance(const char *line, struct svg_point point)
{
    double x = attribute(line, "x1"), y = attribute(line, "y1");
    double dx = attribute(line, "x2") - x, dy = attribute(line, "y2") - y;
    double part =
        ((point.x - x) * dx + (point.y - y) * dy) / (dx * dx + dy * dy);
    part = fmax(0, fmin(1, part));
    return hypot(point.x - x - part * dx, point.y - y - part * dy);
}

/* How near a line comes to the number of a slot of the first dial. */
static inline double distance_to_numbers(const char *film, const char *line)
{
    const char *defs = strstr(film, "<defs>"), *end = strstr(defs, "</defs>");
    const char *dial = strstr(end, "<use");
    double least = INFINITY;
    for (const char *number = defs; (number = strstr(number, "<text")) < end;
         number++) {
        struct svg_point middle = {
            attribute(dial, "x") + attribute(number, "x"),
            attribute(dial, "y") + attribute(number, "y") - 2.7};
        least = fmin(least, distance(line, middle));
    }
    return least;
}

#endif
