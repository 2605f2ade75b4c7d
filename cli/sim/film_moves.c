/*
 * film_moves.c - who went where between two frames.
 */
#include "film_moves.h"

#include "engine.h"

#include <stdlib.h>

/* More arrows than this are joined where they go the same way, from one part of
 * a turn to another. */
enum { APART_MAX = 16, TURN_PARTS = 12 };

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Which part of its ring a cell lies in, of `parts` of all rings. */
static uint32_t part_of(const struct film_face *face, uint16_t cell,
                        uint32_t parts)
{
    if (cell == FILM_NOWHERE)
        return UINT32_MAX;
    uint32_t i = film_level_of(face, cell);
    const struct film_level *level = &face->levels[i];
    return i * parts + (cell - level->first) * parts / level->cells;
}

/* One arrow is enough for all that go the same way, within a part of a turn. */
static struct film_move *find_alike(const struct film_face *face,
                                    struct film_frame *frame,
                                    struct film_move move, uint32_t parts)
{
    for (unsigned i = 0; i < frame->move_count; i++) {
        struct film_move *other = &frame->moves[i];
        if (part_of(face, other->from, parts) ==
                part_of(face, move.from, parts) &&
            part_of(face, other->to, parts) == part_of(face, move.to, parts))
            return other;
    }
    return NULL;
}

/* Keep the largest, in no order. */
static void keep_move(struct film_frame *frame, struct film_move move)
{
    unsigned least = 0;
    if (frame->move_count < FILM_MOVES_MAX) {
        frame->moves[frame->move_count++] = move;
        return;
    }
    for (unsigned i = 1; i < frame->move_count; i++) {
        if (frame->moves[i].count < frame->moves[least].count)
            least = i;
    }
    if (frame->moves[least].count < move.count)
        frame->moves[least] = move;
}

/*
 * Who is elsewhere than in the frame before, as pairs of cells.  They take the
 * room of the places before: a pair fits where a place was, and there are no
 * more of them.
 */
static size_t pair_places(struct film_places *places)
{
    uint32_t *pairs = places->before;
    size_t count = 0;
    for (uint32_t i = 0; i < places->count; i++) {
        uint32_t before = places->before[i];
        uint32_t after = places->after[i];
        if (before == ENGINE_NOWHERE || before == after)
            continue;
        uint32_t from = places->cell_of[before], to = FILM_NOWHERE;
        if (after != ENGINE_NOWHERE)
            to = places->cell_of[after];
        if (from != to)
            pairs[count++] = from << 16 | to;
    }
    qsort(pairs, count, sizeof *pairs, compare);
    return count;
}

/* The moves that begin at pair `*next` of so many, which goes past them. */
static struct film_move move_at(const uint32_t *pairs, size_t count,
                                size_t *next)
{
    size_t begin = *next;
    while (*next < count && pairs[*next] == pairs[begin])
        ++*next;
    return (struct film_move){
        .from = (uint16_t)(pairs[begin] >> 16),
        .to = (uint16_t)(pairs[begin] & UINT16_MAX),
        .count = (uint32_t)(*next - begin),
    };
}

/* Where much moves, what is filed anew would hide what falls: it is told in
 * words only. */
static void draw_up(const struct film_places *places, struct film_frame *frame,
                    struct film_move move, bool is_crowded)
{
    struct film_move *alike = NULL;
    if (is_crowded && !film_is_fall(places->face, &move))
        return;
    if (is_crowded)
        alike = find_alike(places->face, frame, move, TURN_PARTS);
    if (alike != NULL)
        alike->count += move.count;
    else
        keep_move(frame, move);
}

void film_find_moves(struct film_places *places, struct film_frame *frame,
                     struct film_news *news)
{
    const uint32_t *pairs = places->before;
    size_t count = pair_places(places), kinds = 0;
    for (size_t next = 0; next < count; kinds++)
        move_at(pairs, count, &next);

    for (size_t next = 0; next < count;) {
        struct film_move move = move_at(pairs, count, &next);
        /* One that is armed for ever leaves its slot, too. */
        if (move.to == FILM_NOWHERE && frame->fired == 0)
            continue;
        draw_up(places, frame, move, kinds > APART_MAX);
        film_news_add(news, places->face, move);
    }
}
