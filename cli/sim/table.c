/*
 * table.c - what each geometry cost, for people and for programs.
 */
#include "table.h"

#include "../words.h"

#include <inttypes.h>
#include <string.h>

enum {
    CELL_WIDTH = 5, /* at least; and a column for the mark */
    /* With fewer operations, time tells more of the machine than of them. */
    OPERATIONS_TIMED = 10000,
};

/* What costs so much more than the least is not recommended, nor what takes so
 * much more memory. */
static const double cost_factor = 2;
static const double memory_factor = 8;

static double levels(const struct replay_outcome *o)
{
    return o->levels;
}

static double falls(const struct replay_outcome *o)
{
    return row_each((double)o->work.falls, o->work.armed);
}

static double wakeups_empty(const struct replay_outcome *o)
{
    return (double)o->wakeups_empty;
}

static double passes(const struct replay_outcome *o)
{
    return (double)o->work.passes;
}

static double worst_us(const struct replay_outcome *o)
{
    return o->worst_ns / 1e3;
}

static const struct column {
    const char *heads[2];
    double (*value)(const struct replay_outcome *o);
    bool is_cost; /* the least is the best */
    bool is_of_rounds;
} columns[] = {
    {{"top", "level"}, levels, false, false},
    {{"falls", "each"}, falls, true, false},
    {{"slot", "visits"}, row_visits, true, false},
    {{"wake-", "ups"}, row_wakeups, true, false},
    {{"none", "due"}, wakeups_empty, true, false},
    {{"passed", "over"}, passes, true, true},
    {{"mem.", "bytes"}, row_bytes, true, false},
    {{"worst", "moved"}, row_worst, true, false},
    {{"step,", "us"}, worst_us, true, false},
    {{"ns an", "oper."}, row_ns, true, false},
};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* A table to be: what is the same for all its lines. */
struct sheet {
    const struct sim_row *rows;
    size_t count;
    int name_width;
    bool has_rounds;
    double best[COLUMNS]; /* negative: none is better than the others */
    FILE *out;
};

static bool is_shown(const struct sheet *sheet, const struct column *column)
{
    return sheet->has_rounds || !column->is_of_rounds;
}

/* As wide as its heads and any number. */
static int width(const struct column *column)
{
    int widest = CELL_WIDTH;
    for (unsigned line = 0; line < 2; line++) {
        int length = (int)strlen(column->heads[line]);
        widest = length > widest ? length : widest;
    }
    return widest;
}

/* What the numbers leave of a line; a longer name has a line of its own. */
static int name_width_max(const struct sheet *sheet)
{
    int left = WORDS_COLUMNS - 1; /* for the last mark */
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (is_shown(sheet, &columns[i]))
            left -= 1 + width(&columns[i]);
    }
    return left;
}

/* The least, unless all are the same. */
static double best(const struct sheet *sheet, const struct column *column)
{
    double least = column->value(&sheet->rows[0].outcome), most = least;
    for (size_t i = 1; i < sheet->count; i++) {
        double value = column->value(&sheet->rows[i].outcome);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    return column->is_cost && least < most ? least : -1;
}

static struct sheet lay_out(const struct sim_row *rows, size_t count, FILE *out)
{
    struct sheet sheet = {.rows = rows, .count = count, .out = out};
    for (size_t i = 0; i < count; i++)
        sheet.has_rounds |= rows[i].geometry.beyond == TKW_ROUNDS;
    sheet.name_width = (int)strlen("geometry");
    for (size_t i = 0; i < count; i++) {
        int length = (int)strlen(rows[i].name);
        if (length > sheet.name_width && length <= name_width_max(&sheet))
            sheet.name_width = length;
    }
    for (unsigned i = 0; i < COLUMNS; i++)
        sheet.best[i] = best(&sheet, &columns[i]);
    return sheet;
}

static const char *s_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void write_load(const struct replay_outcome *o, FILE *out)
{
    uint64_t pending = o->work.armed - o->work.fired - o->work.cancelled;
    char never[60] = "", ignored[90] = "";
    if (pending > 0)
        snprintf(never, sizeof never, ", %s never due",
                 words_count(pending).text);
    if (o->ignored > 0)
        snprintf(ignored, sizeof ignored,
                 "; %s operation%s on timers that are not armed",
                 words_count(o->ignored).text, s_of(o->ignored));
    words_write(out, 0,
                "%s operation%s in %s tick%s, at most %s timer%s pending",
                words_count(o->operations).text, s_of(o->operations),
                words_count(o->last - o->start).text, s_of(o->last - o->start),
                words_count(o->pending_max).text, s_of(o->pending_max));
    words_write(out, 0, "%s armed, %s fired, %s cancelled%s%s",
                words_count(o->work.armed).text,
                words_count(o->work.fired).text,
                words_count(o->work.cancelled).text, never, ignored);
    fprintf(out, "\n");
}

static void write_heads(const struct sheet *sheet)
{
    for (unsigned line = 0; line < 2; line++) {
        fprintf(sheet->out, "%-*s", sheet->name_width,
                line == 0 ? "" : "geometry");
        for (unsigned i = 0; i < COLUMNS; i++) {
            if (is_shown(sheet, &columns[i]))
                fprintf(sheet->out, " %*s", width(&columns[i]),
                        columns[i].heads[line]);
        }
        fprintf(sheet->out, "\n");
    }
}

/* A number that fits its cell, whatever it is. */
static struct words cell(double value)
{
    struct words words = words_short(value);
    if (value > 0 && value < 0.01)
        snprintf(words.text, sizeof words.text, "<0.01");
    else if (value > 0 && value < 0.1)
        snprintf(words.text, sizeof words.text, "%.3f", value);
    return words;
}

static void write_row(const struct sheet *sheet, const struct sim_row *row)
{
    bool is_long = (int)strlen(row->name) > sheet->name_width;
    if (is_long)
        fprintf(sheet->out, "%s\n", row->name);
    fprintf(sheet->out, "%-*s", sheet->name_width, is_long ? "" : row->name);
    char mark = ' ';
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (!is_shown(sheet, &columns[i]))
            continue;
        double value = columns[i].value(&row->outcome);
        fprintf(sheet->out, "%c%*s", mark, width(&columns[i]),
                cell(value).text);
        mark = value <= sheet->best[i] ? '*' : ' ';
    }
    fprintf(sheet->out, mark == '*' ? "*\n" : "\n");
}

/* What an operation costs: time, or where there were few, what was touched. */
static double cost(const struct replay_outcome *o)
{
    const struct tkw_wheel_stats *w = &o->work;
    if (o->operations >= OPERATIONS_TIMED)
        return row_ns(o);
    return row_each((double)(w->falls + w->refiles + w->passes + w->visits),
                    o->operations);
}

static bool is_better(const struct replay_outcome *a,
                      const struct replay_outcome *b)
{
    if (a->worst_moved != b->worst_moved)
        return a->worst_moved < b->worst_moved;
    if (cost(a) < cost(b) || cost(b) < cost(a))
        return cost(a) < cost(b);
    return a->bytes_max < b->bytes_max;
}

/* Those that keep their promises, and take not much more memory than any. */
static bool is_eligible(const struct sim_row *rows, size_t count,
                        const struct sim_row *row)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].outcome.bytes_max < least)
            least = rows[i].outcome.bytes_max;
    }
    return row->outcome.is_sound &&
           (double)row->outcome.bytes_max <= memory_factor * (double)least;
}

/* The one with the smallest worst step of those that cost little; NULL if none
 * is sound.  `*cheap` is how many these are. */
static const struct sim_row *choose(const struct sim_row *rows, size_t count,
                                    size_t *cheap)
{
    const struct sim_row *least = NULL, *chosen = NULL;
    for (size_t i = 0; i < count; i++) {
        if (is_eligible(rows, count, &rows[i]) &&
            (least == NULL || cost(&rows[i].outcome) < cost(&least->outcome)))
            least = &rows[i];
    }
    *cheap = 0;
    for (size_t i = 0; i < count; i++) {
        const struct replay_outcome *o = &rows[i].outcome;
        if (least == NULL || !is_eligible(rows, count, &rows[i]) ||
            cost(o) > cost(&least->outcome) * cost_factor)
            continue;
        ++*cheap;
        if (chosen == NULL || is_better(o, &chosen->outcome))
            chosen = &rows[i];
    }
    return chosen;
}

/* Whether only memory tells another one from it. */
static bool has_equal(const struct sim_row *rows, size_t count,
                      const struct sim_row *row)
{
    for (size_t i = 0; i < count; i++) {
        const struct replay_outcome *a = &rows[i].outcome, *b = &row->outcome;
        if (a->bytes_max > b->bytes_max && is_eligible(rows, count, &rows[i]) &&
            a->worst_moved == b->worst_moved && cost(a) <= cost(b))
            return true;
    }
    return false;
}

static void recommend(const struct sim_row *rows, size_t count, FILE *out)
{
    size_t cheap;
    const struct sim_row *row = choose(rows, count, &cheap);
    if (row == NULL || count < 2)
        return;
    const struct replay_outcome *o = &row->outcome;
    bool is_timed = o->operations >= OPERATIONS_TIMED;

    fprintf(out, "\n");
    if (cheap > 1 && !is_timed && cost(o) <= 0) {
        fprintf(out,
                "Too little happens to compare %zu of them: no hand reaches a "
                "timer.\n",
                cheap);
        words_write(out, 0, "Of these %s takes the least memory.", row->name);
        return;
    }
    char why[160];
    if (cheap == 1)
        snprintf(why, sizeof why,
                 "All others cost more than twice as much, or take more than "
                 "eight times the memory.");
    else
        snprintf(why, sizeof why,
                 "Of the %zu that cost at most twice the least, none has a "
                 "smaller worst step%s.",
                 cheap,
                 has_equal(rows, count, row)
                     ? "; of equals it takes the least memory"
                     : "");
    words_write(out, 0,
                "For this load: %s, at %.*f %s an operation; its worst step "
                "touches %s timer%s. %s",
                row->name, is_timed ? 0 : 2, cost(o), is_timed ? "ns" : "moves",
                words_count(o->worst_moved).text, s_of(o->worst_moved), why);
}

void table_write(const struct sim_row *rows, size_t count, FILE *out)
{
    if (count == 0)
        return;
    struct sheet sheet = lay_out(rows, count, out);
    write_load(&rows[0].outcome, out);
    write_heads(&sheet);
    for (size_t i = 0; i < count; i++)
        write_row(&sheet, &rows[i]);
    recommend(rows, count, out);
}

void table_write_csv(const struct sim_row *rows, size_t count, FILE *out)
{
    fprintf(out, "engine,geometry,operations,ignored,armed,fired,cancelled,"
                 "levels,falls,refiles,passes,visits,wakeups,wakeups_empty,"
                 "pending_max,bytes_max,worst_moved,worst_at,worst_ns,ns,"
                 "start,end,is_sound\n");
    for (size_t i = 0; i < count; i++) {
        const struct replay_outcome *o = &rows[i].outcome;
        const struct tkw_wheel_stats *w = &o->work;
        const char *engine = rows[i].kind->name;
        const uint64_t numbers[] = {
            o->operations,  o->ignored,   w->armed,       w->fired,
            w->cancelled,   o->levels,    w->falls,       w->refiles,
            w->passes,      w->visits,    o->wakeups,     o->wakeups_empty,
            o->pending_max, o->bytes_max, o->worst_moved, o->worst_at,
        };
        /* The name is that of the engine, a blank and the sizes. */
        fprintf(out, "%s,\"%s\"", engine, rows[i].name + strlen(engine) + 1);
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0]; j++)
            fprintf(out, ",%" PRIu64, numbers[j]);
        fprintf(out, ",%.0f,%.0f,%" PRIu64 ",%" PRIu64 ",%d\n", o->worst_ns,
                o->ns, o->start, o->last, o->is_sound);
    }
}
