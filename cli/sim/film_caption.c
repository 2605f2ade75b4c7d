/*
 * film_caption.c - what has happened since the frame before, in words.
 */
#include "film_caption.h"

#include "../words.h"

#include <assert.h>
#include <stdarg.h>

void film_news_add(struct film_news *news, const struct film_face *face,
                   struct film_move move)
{
    if (move.to == FILM_NOWHERE)
        return; /* has fired, and that was counted */
    uint32_t from = film_level_of(face, move.from);
    uint32_t to = film_level_of(face, move.to);
    if (film_is_fall(face, &move))
        news->falls[from][to] += move.count;
    else
        news->moved += move.count;
}

/* Falls from one level to another that are told singly; wheels of the smallest
 * slots have levels for thousands of them. */
enum { FALLS_LISTED = 6 };

/* A line that is being written, in room for the longest. */
struct line {
    char *text;
    size_t size, length;
    bool has_items;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 forgets va_start() where it is given several files. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    int length = vsnprintf(line->text + line->length, line->size - line->length,
                           format, arguments);
    va_end(arguments);
    assert(length >= 0);
    assert((size_t)length < line->size - line->length);
    line->length += (size_t)length;
}

static struct words amount(uint64_t count)
{
    return count < 100000 ? words_count(count) : words_short((double)count);
}

/* Add "3 fire", or nothing of what did not happen. */
static void add_item(struct line *line, uint64_t count, const char *one,
                     const char *many)
{
    if (count == 0)
        return;
    add(line, "%s%s %s", line->has_items ? ", " : "", amount(count).text,
        count == 1 ? one : many);
    line->has_items = true;
}

static void add_falls(struct line *line, const struct film_news *news)
{
    unsigned listed = 0;
    uint64_t more = 0;
    for (uint32_t i = TKW_LEVELS_MAX * TKW_LEVELS_MAX; i-- > 0;) {
        uint32_t from = i / TKW_LEVELS_MAX, to = i % TKW_LEVELS_MAX;
        uint64_t count = from > to ? news->falls[from][to] : 0;
        if (count == 0)
            continue;
        if (listed++ < FALLS_LISTED) {
            add_item(line, count, "falls", "fall");
            add(line, " from level %u to %u", (unsigned)from + 1,
                (unsigned)to + 1);
        } else {
            more += count;
        }
    }
    add_item(line, more, "more falls lower down", "more fall lower down");
}

static void add_deed(struct line *line, const struct film_deed *deed)
{
    static const char *const verbs[] = {
        [TRACE_ARM] = "arm",
        [TRACE_POSTPONE] = "postpone",
        [TRACE_CANCEL] = "cancel",
        [TRACE_ADVANCE] = "advance",
    };
    const struct trace_op *op = deed->op;
    struct words before = words_count(deed->deadline_before);
    if (deed->deadline_before == TKW_NEVER)
        before = (struct words){"never"};
    struct words deadline = words_count(op->deadline);
    if (op->deadline == TKW_NEVER)
        deadline = (struct words){"never"};

    add(line, "%s", verbs[op->kind]);
    if (op->kind == TRACE_ADVANCE)
        return;
    if (op->kind == TRACE_ARM && !deed->was_armed)
        add(line, " a timer for %s", deadline.text);
    else if (!deed->was_armed)
        add(line, " what is not armed");
    else if (op->kind == TRACE_CANCEL)
        add(line, " %s", before.text);
    else
        add(line, " %s %s %s", before.text,
            op->kind == TRACE_ARM ? "anew for" : "to", deadline.text);
}

void film_caption(char text[FILM_CAPTION_MAX], const struct film_news *news)
{
    struct line line = {.text = text, .size = FILM_CAPTION_MAX};
    add(&line, "at %s: ", words_count(news->now).text);
    if (news->deed != NULL) {
        add_deed(&line, news->deed);
        return;
    }
    add_item(&line, news->armed, "armed", "armed");
    add_item(&line, news->cancelled, "cancelled", "cancelled");
    add_falls(&line, news);
    add_item(&line, news->moved, "filed anew", "filed anew");
    add_item(&line, news->fired, "fires", "fire");
    add_item(&line, news->pending, "pending", "pending");
    if (!line.has_items)
        add(&line, "nothing pending");
}
