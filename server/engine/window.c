/*
 * engine/window.c - the jobs that are near, and how they come into memory.
 *
 *      due before `loaded`     in memory
 *      `loaded` .. `end_ns`    being loaded: the store has some, memory others
 *      from `end_ns` on        far: in the store only, once they are durable
 *
 * The window first raises its end.  From then on no job that is due before the
 * end leaves memory.  Then it asks the store for the range up to the end, part
 * by part, and files the jobs that memory does not have.  The list sees every
 * batch submitted before the question, and nothing settles while it is being
 * read.  So no job falls into the gap between the two.
 *
 * The end is as far ahead as the number of jobs allows: LEAD_NS, or less if
 * window_jobs are in memory, but at least LEAD_MIN_LOW_NS.  If there are too
 * many, the end moves back.  What is in memory beyond it stays.
 *
 * When the server starts, the window begins at 0 and has to reach the time of
 * the start.  Until then commands that need the most urgent or the soonest job
 * wait.
 */
#include "private.h"

#define LEAD_NS (600 * NS_PER_SECOND)
#define LEAD_LOW_NS (540 * NS_PER_SECOND) /* extend the window from here on */
#define LEAD_MIN_NS (4 * NS_PER_SECOND)
#define LEAD_MIN_LOW_NS (2 * NS_PER_SECOND)
#define SLICE_MIN_NS (NS_PER_SECOND / 100)
#define SLICE_MAX_NS (60 * NS_PER_SECOND)
#define TIME_SAVED_NS (10 * NS_PER_SECOND)

enum { PART = 1000, PART_OPENING = 4000, SLICE_FEW = 1000, SLICE_MANY = 20000 };

/* The token of a list for the window.  That of a client is its address. */
enum { TOKEN_WINDOW = 0 };

void tkd__window_open(struct tkd_engine *engine)
{
    struct window *window = &engine->window;
    window->slice_ns = NS_PER_SECOND;
    window->end_ns = engine->now_ns + 1;
    window->is_opening = engine->far > 0;
    if (!window->is_opening)
        window->loaded = (struct tkd_position){.at = window->end_ns};
}

static bool is_loaded(const struct window *window)
{
    return window->loaded.at >= window->end_ns;
}

static bool is_full(const struct tkd_engine *engine)
{
    return engine->jobs_in.delayed >= engine->window_jobs;
}

/* Return how far ahead the end should be. */
static uint64_t lead_of(const struct tkd_engine *engine)
{
    return is_full(engine) ? LEAD_MIN_NS : LEAD_NS;
}

/* Return when the end has to move. */
static uint64_t time_to_extend(const struct tkd_engine *engine)
{
    uint64_t lead_ns = is_full(engine) ? LEAD_MIN_LOW_NS : LEAD_LOW_NS;
    uint64_t end_ns = engine->window.end_ns;
    return end_ns > lead_ns ? end_ns - lead_ns : 0;
}

static bool has_memory(const struct tkd_engine *engine)
{
    return engine->memory_max == 0 ||
           tkd__memory_used(engine) < engine->memory_max;
}

uint64_t tkd__window_next(const struct tkd_engine *engine)
{
    const struct window *window = &engine->window;
    if (engine->store->is_volatile)
        return TKD_NEVER;
    uint64_t next_ns = TKD_NEVER;
    if (!engine->is_batch_dirty)
        next_ns = engine->time_saved_ns + TIME_SAVED_NS;
    if (window->is_asking || engine->far == 0 || !has_memory(engine) ||
        !is_loaded(window))
        return next_ns;
    uint64_t extend_ns = time_to_extend(engine);
    return extend_ns < next_ns ? extend_ns : next_ns;
}

/* Move the end back if there are too many jobs. */
static void shrink(struct tkd_engine *engine)
{
    struct window *window = &engine->window;
    uint64_t least_ns = engine->now_ns + LEAD_MIN_NS;
    if (!is_full(engine) || window->end_ns <= least_ns + LEAD_MIN_NS)
        return;
    window->end_ns = engine->now_ns + (window->end_ns - engine->now_ns) / 2;
    if (window->end_ns < least_ns)
        window->end_ns = least_ns;
    if (is_loaded(window))
        window->loaded = (struct tkd_position){.at = window->end_ns};
}

/* Move the end forward by a slice, or without far jobs at once. */
static void extend(struct tkd_engine *engine)
{
    struct window *window = &engine->window;
    uint64_t most_ns = engine->now_ns + lead_of(engine);
    if (engine->now_ns < time_to_extend(engine))
        return;
    if (engine->far == 0) {
        window->end_ns = most_ns;
        window->loaded = (struct tkd_position){.at = most_ns};
        return;
    }
    uint64_t from_ns = window->end_ns;
    if (from_ns < engine->now_ns)
        from_ns = engine->now_ns;
    window->end_ns = from_ns + window->slice_ns;
    if (window->end_ns > most_ns)
        window->end_ns = most_ns;
    window->slice_jobs = 0;
}

/* Ask for the next part of the range up to the end. */
static void ask(struct tkd_engine *engine)
{
    struct window *window = &engine->window;
    struct tkd_range range = {
        .token = TOKEN_WINDOW,
        .list = TKD_LIST_DUE,
        .from = window->loaded,
        .end = window->end_ns,
        .most = window->is_opening ? PART_OPENING : PART,
    };
    window->asked_end_ns = window->end_ns;
    window->is_asking = tkd_store_list(engine->store, &range);
}

/* The window has reached the time of the start: run what waited for it. */
static void finish_opening(struct tkd_engine *engine)
{
    engine->window.is_opening = false;
    const struct link *head = &engine->all_tubes;
    for (struct link *link = head->next; link != head; link = link->next)
        tkd__tube_serve_later(engine, TKW_CONTAINER(link, struct tube, all));
}

void tkd__window_run(struct tkd_engine *engine)
{
    struct window *window = &engine->window;
    if (engine->store->is_volatile)
        return;
    if (engine->now_ns >= engine->time_saved_ns + TIME_SAVED_NS)
        engine->is_batch_dirty = true;
    if (window->is_asking || engine->has_failed)
        return;
    if (!window->is_opening && window->is_turn_of_clients &&
        tkd__far_ask(engine))
        return;
    if (!has_memory(engine)) {
        if (window->is_opening)
            finish_opening(engine);
    } else {
        shrink(engine);
        if (is_loaded(window))
            extend(engine);
        if (!is_loaded(window))
            ask(engine);
    }
    if (!window->is_opening && !window->is_asking)
        tkd__far_ask(engine);
}

/* Choose the length of the next slice by the number of jobs in this one. */
static void adapt(struct window *window)
{
    if (window->slice_jobs < SLICE_FEW && window->slice_ns < SLICE_MAX_NS)
        window->slice_ns *= 2;
    else if (window->slice_jobs > SLICE_MANY && window->slice_ns > SLICE_MIN_NS)
        window->slice_ns /= 2;
}

size_t tkd__file_items(struct tkd_engine *engine,
                       const struct tkd_answer *answer)
{
    if (answer->body == NULL)
        return 0;
    const struct tkd_item *items = (const void *)answer->body->bytes;
    size_t count = answer->body->size / sizeof *items;
    size_t done = 0;
    while (done < count && tkd__file_item(engine, &items[done]))
        done++;
    return done;
}

/* Return the position behind item `index`. */
static struct tkd_position behind(const struct tkd_item *items, size_t index)
{
    return (struct tkd_position){.at = items[index].place.at,
                                 .id = items[index].id + 1};
}

/* While the window is being opened, the store reads the next part while the
 * engine files this one. */
static void ask_ahead(struct tkd_engine *engine,
                      const struct tkd_answer *answer)
{
    const struct tkd_item *items = (const void *)answer->body->bytes;
    size_t count = answer->body->size / sizeof *items;
    if (!engine->window.is_opening || answer->is_at_end || count == 0 ||
        !has_memory(engine))
        return;
    engine->window.loaded = behind(items, count - 1);
    ask(engine);
}

static void take_part(struct tkd_engine *engine,
                      const struct tkd_answer *answer)
{
    struct window *window = &engine->window;
    if (answer->body == NULL)
        return;
    struct tkd_position from = window->loaded;
    ask_ahead(engine, answer);
    const struct tkd_item *items = (const void *)answer->body->bytes;
    size_t done = tkd__file_items(engine, answer);
    bool is_whole = done == answer->body->size / sizeof *items;
    window->slice_jobs += done;
    window->loaded = done > 0 ? behind(items, done - 1) : from;
    window->is_stale = window->is_asking && !is_whole;
    if (!is_whole || !answer->is_at_end)
        return;
    window->loaded = (struct tkd_position){.at = window->asked_end_ns};
    adapt(window);
    if (window->is_opening && is_loaded(window))
        finish_opening(engine);
}

void tkd__list_answer(struct tkd_engine *engine,
                      const struct tkd_answer *answer)
{
    engine->window.is_asking = false;
    engine->window.is_turn_of_clients = answer->token == TOKEN_WINDOW;
    if (engine->window.is_stale)
        engine->window.is_stale = false;
    else if (answer->token == TOKEN_WINDOW)
        take_part(engine, answer);
    else
        tkd__far_answer((struct tkd_client *)(uintptr_t)answer->token, answer);
    tkd_body_release(&engine->allocator, answer->body);
    tkd__settle(engine);
    tkd__window_run(engine);
}
