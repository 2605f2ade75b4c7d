/*
 * film.c - which moments of a replay become frames, and what is kept of them.
 *
 * Where the timers are is asked only when a frame is taken: that visits all of
 * them.  Comparing the answer with that of the frame before tells who fell.
 */
#include "film.h"

#include "film_caption.h"
#include "film_draw.h"
#include "film_moves.h"
#include "svg.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* With no more timers than this their deadlines are remembered. */
enum { KNOWN_MAX = 64 };

struct film {
    const struct trace *trace;
    struct film_settings settings;
    struct film_strip strip;
    bool is_eventful; /* too much happens for a frame each */
    tkw_tick due;     /* what it looks like then is to be the next frame ... */
    bool is_over;     /* ... unless all have been taken */
    size_t ops_done;

    uint16_t *cell_of;             /* by slot, numbered among all slots */
    struct engine_census census;   /* as of the latest frame */
    uint32_t *places_before;       /* and the places of the one before */
    tkw_tick deadlines[KNOWN_MAX]; /* by timer; it is armed if that is ahead */
    struct tkw_wheel_stats work;   /* done by the latest frame */
};

static void lay_out(struct film *film, const struct tkw_dial *dial)
{
    struct film_face *face = &film->strip.face;
    face->level_count = dial->level_count;
    for (uint32_t i = 0; i < dial->level_count; i++) {
        uint32_t size = dial->levels[i].size;
        face->levels[i] = (struct film_level){
            .tick = dial->levels[i].tick,
            .size = size,
            .cells = size <= FILM_SINGLE_MAX ? size : FILM_GROUPS,
            .first = face->cell_count,
        };
        face->cell_count += face->levels[i].cells;
    }
    assert(face->cell_count > 0);
    assert(face->cell_count < FILM_NOWHERE);
}

static void fold(struct film *film, const struct tkw_dial *dial)
{
    for (uint32_t i = 0; i < dial->level_count; i++) {
        const struct film_level *level = &film->strip.face.levels[i];
        for (uint64_t slot = 0; slot < level->size; slot++)
            film->cell_of[dial->levels[i].first + slot] =
                (uint16_t)(level->first + slot * level->cells / level->size);
    }
}

static bool allocate(struct film *film, uint32_t slot_count)
{
    struct film_strip *strip = &film->strip;
    size_t timers = film->trace->key_count > 0 ? film->trace->key_count : 1;
    size_t cells = strip->face.cell_count, n = film->settings.frames_max;

    film->cell_of = calloc(slot_count, sizeof *film->cell_of);
    film->census.slots = calloc(slot_count, sizeof *film->census.slots);
    film->census.places = calloc(timers, sizeof *film->census.places);
    film->places_before = calloc(timers, sizeof *film->places_before);
    strip->frames = calloc(n, sizeof *strip->frames);
    uint32_t *counts = calloc(n * cells, sizeof *counts);
    if (film->cell_of == NULL || film->census.slots == NULL ||
        film->census.places == NULL || film->places_before == NULL ||
        strip->frames == NULL || counts == NULL) {
        free(counts);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        strip->frames[i].cells = &counts[i * cells];
    memset(film->census.places, 0xFF, timers * sizeof *film->census.places);
    return true;
}

struct film *film_open(const struct trace *trace,
                       const struct film_settings *settings)
{
    struct tkw_dial dial;
    struct film *film = calloc(1, sizeof *film);
    assert(settings->frames_max > 0);
    assert(settings->kind != NULL);
    if (film == NULL ||
        tkw_dial_init(&dial, settings->geometry, 0, NULL) != 0) {
        free(film);
        return NULL;
    }
    film->trace = trace;
    film->settings = *settings;
    film->is_eventful =
        settings->events > settings->frames_max || trace->key_count > KNOWN_MAX;
    film->due = settings->from;
    film->strip.title = settings->title;
    film->strip.class = settings->kind == &engine_pool ? SVG_POOL : SVG_WHEEL;
    lay_out(film, &dial);
    if (!allocate(film, dial.slot_count)) {
        film_close(film);
        return NULL;
    }
    fold(film, &dial);
    return film;
}

void film_close(struct film *film)
{
    if (film == NULL)
        return;
    if (film->strip.frames != NULL)
        free(film->strip.frames[0].cells); /* of all frames */
    free(film->strip.frames);
    free(film->places_before);
    free(film->census.places);
    free(film->census.slots);
    free(film->cell_of);
    free(film);
}

static void find_hands(const struct film *film, struct film_frame *frame,
                       const struct tkw_dial *dial)
{
    for (uint32_t i = 0; i < dial->level_count; i++) {
        const struct tkw_level *level = &dial->levels[i];
        uint32_t slot = (uint32_t)(level->hand % level->size);
        frame->hands[i] = film->cell_of[level->first + slot];
    }
}

static void find_marks(const struct film *film, struct film_frame *frame)
{
    uint32_t keys = film->trace->key_count, waiting = 0;
    for (uint32_t i = 0; i < keys && keys <= KNOWN_MAX; i++) {
        if (film->census.places[i] == ENGINE_NOWHERE)
            continue;
        if (waiting++ < FILM_MARKS_MAX)
            frame->marks[frame->mark_count++] = (struct film_mark){
                .deadline = film->deadlines[i],
                .cell = film->cell_of[film->census.places[i]],
                .key = (uint16_t)i,
            };
    }
    if (waiting > FILM_MARKS_MAX)
        frame->mark_count = 0;
}

static void count_cells(const struct film *film, struct film_frame *frame,
                        uint32_t slot_count)
{
    memset(frame->cells, 0, film->strip.face.cell_count * sizeof *frame->cells);
    for (uint32_t i = 0; i < slot_count; i++)
        frame->cells[film->cell_of[i]] += film->census.slots[i];
}

/* Make a frame of how things are.  Returns whether it differs from the one
 * before. */
static bool expose(struct film *film, const struct engine *engine,
                   struct film_frame *frame, struct film_news *news)
{
    const struct engine_kind *kind = film->settings.kind;
    const struct tkw_dial *dial = kind->dial(engine);
    struct tkw_wheel_stats work = kind->read_stats(engine);

    uint32_t *latest = film->census.places;
    film->census.places = film->places_before;
    film->places_before = latest;
    kind->take_census(engine, &film->census);

    *frame = (struct film_frame){.cells = frame->cells};
    if (film->is_eventful)
        news->pending = kind->count(engine);
    if (film->strip.frame_count > 0 || !film->is_eventful) {
        frame->fired = work.fired - film->work.fired;
        news->fired = frame->fired;
        news->armed = work.armed - film->work.armed;
        news->cancelled = work.cancelled - film->work.cancelled;
    }
    struct film_places places = {
        .face = &film->strip.face,
        .cell_of = film->cell_of,
        .before = film->places_before,
        .after = film->census.places,
        .count = film->trace->key_count,
    };
    film_find_moves(&places, frame, news);
    find_hands(film, frame, dial);
    find_marks(film, frame);
    count_cells(film, frame, dial->slot_count);
    film->work = work;
    return frame->move_count > 0 || frame->fired > 0;
}

/* How things stand is how they will stand at `due`: nothing comes before. */
static bool lasts_until_due(const struct film *film,
                            const struct engine *engine)
{
    const struct trace *trace = film->trace;
    if (film->ops_done < trace->op_count &&
        trace->ops[film->ops_done].time <= film->due)
        return false;
    return film->settings.kind->next(engine) > film->due;
}

/* The frames left are for what is left of the time. */
static void plan(struct film *film, tkw_tick now)
{
    uint32_t left = film->settings.frames_max - film->strip.frame_count;
    tkw_tick from = film->due > now ? film->due : now;
    tkw_tick to = film->settings.to;

    film->is_over = left == 0 || (film->is_eventful && from >= to);
    if (!film->is_over && from < to)
        film->due = from + (to - from) / left;
}

static void take(struct film *film, const struct engine *engine, tkw_tick now,
                 const struct film_deed *deed)
{
    const struct film_settings *settings = &film->settings;
    struct film_frame *frame = &film->strip.frames[film->strip.frame_count];
    struct film_news news = {.now = now, .deed = deed};

    /* With few events all are looked at: the first that is shown, too, has one
       to be compared with. */
    bool has_changed = expose(film, engine, frame, &news);
    if (!film->is_eventful && (now < settings->from || now > settings->to ||
                               (deed == NULL && !has_changed)))
        return;
    film_caption(frame->caption, &news);
    film->strip.frame_count++;
    plan(film, now);
}

static void take_if_needed(struct film *film, const struct engine *engine,
                           tkw_tick now, const struct film_deed *deed)
{
    if (film->is_over)
        return;
    if (!film->is_eventful)
        take(film, engine, now, deed);
    else if (lasts_until_due(film, engine))
        take(film, engine, now, NULL);
}

static void step(void *context, const struct engine *engine, tkw_tick now)
{
    take_if_needed(context, engine, now, NULL);
}

/* What an operation did to its timer; remember the deadline. */
static struct film_deed deed_of(struct film *film, const struct trace_op *op)
{
    struct film_deed deed = {.op = op};
    if (op->kind == TRACE_ADVANCE || film->trace->key_count > KNOWN_MAX)
        return deed;

    tkw_tick *deadline = &film->deadlines[op->key];
    deed.was_armed = *deadline > op->time;
    deed.deadline_before = *deadline;
    if (op->kind == TRACE_CANCEL)
        *deadline = 0;
    else if (op->kind == TRACE_ARM || deed.was_armed)
        *deadline = op->deadline;
    return deed;
}

static void done(void *context, const struct engine *engine,
                 const struct trace_op *op)
{
    struct film *film = context;
    struct film_deed deed = deed_of(film, op);
    film->ops_done++;
    /* Who is cancelled does not fire: no arrow is to lead from there. */
    if (op->kind == TRACE_CANCEL)
        film->census.places[op->key] = ENGINE_NOWHERE;
    take_if_needed(film, engine, op->time, &deed);
}

struct replay_watcher film_watcher(struct film *film)
{
    return (struct replay_watcher){film, step, done};
}

bool film_write(const struct film *film, FILE *out)
{
    return film_draw(&film->strip, out);
}
