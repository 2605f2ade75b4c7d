#include "fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void blame(struct fake_store *fake, const char *fault)
{
    if (fake->fault == NULL)
        fake->fault = fault;
}

static struct fake_store *of(const struct tkd_store *store)
{
    return (struct fake_store *)(uintptr_t)store;
}

static struct fake_job *find(struct fake_store *fake, uint64_t id)
{
    for (size_t i = 0; i < FAKE_JOBS; i++)
        if (fake->jobs[i].place.order != TKD_ORDER_NONE &&
            fake->jobs[i].id == id)
            return &fake->jobs[i];
    return NULL;
}

const struct fake_job *fake_find(const struct fake_store *fake, uint64_t id)
{
    return find(of(&fake->store), id);
}

const struct tkd_write *fake_last(const struct fake_store *fake, size_t before)
{
    return &fake->writes[fake->write_count - 1 - before];
}

static bool is_same(const struct tkd_place *a, const struct tkd_place *b)
{
    if (a->order == TKD_ORDER_NONE || b->order == TKD_ORDER_NONE)
        return a->order == b->order;
    return a->order == b->order && a->at == b->at && a->tube == b->tube;
}

/* Return the write that was the last one of its job before number `end`, or
 * NULL. */
static const struct tkd_write *last_of(const struct fake_store *fake,
                                       uint64_t id, size_t end)
{
    while (end > 0)
        if (fake->writes[--end].id == id)
            return &fake->writes[end];
    return NULL;
}

/* Hold a write against what was written before. */
static void check(struct fake_store *fake, const struct tkd_write *write)
{
    const struct tkd_write *last = last_of(fake, write->id, fake->write_count);
    const struct fake_job *job = find(fake, write->id);
    struct tkd_place known = {0};
    uint64_t home = write->home;
    if (last != NULL || job != NULL) {
        known = last != NULL ? last->after : job->place;
        home = last != NULL ? last->home : job->home;
    }
    bool is_new = write->before.order == TKD_ORDER_NONE;
    bool is_deleted = write->after.order == TKD_ORDER_NONE;
    if (!is_same(&write->before, &known))
        blame(fake, "`before` of a write is not where the job is");
    if (is_new && is_deleted)
        blame(fake, "a write changes nothing");
    if (is_new != (write->body != NULL))
        blame(fake, "a changed job has a body, or a new one has none");
    if (!is_new && write->home != home)
        blame(fake, "the home of a job has changed");
    if (!is_new && !is_deleted && write->after.tube != write->before.tube)
        blame(fake, "a job has moved to another tube");
    if (is_new && write->after.at != write->home)
        blame(fake, "the home of a new job is not its due time");
    if (is_deleted != (write->record_size == 0))
        blame(fake, "a deleted job has a record, or another has none");
    if (write->record_size > TKD_RECORD_MAX)
        blame(fake, "a record is too large");
}

static bool reserve(struct tkd_store *store, size_t count)
{
    struct fake_store *fake = of(store);
    if (fake->refuses_writes)
        return count <= fake->room;
    if (fake->room < count)
        fake->room = count;
    return true;
}

static void take_write(struct tkd_store *store, const struct tkd_write *write)
{
    struct fake_store *fake = of(store);
    if (fake->room == 0)
        blame(fake, "no memory is reserved for a write");
    else
        fake->room--;
    check(fake, write);
    if (fake->write_count == FAKE_WRITES)
        abort();
    fake->writes[fake->write_count] = *write;
    fake->writes[fake->write_count].body = NULL;
    if (write->body != NULL) {
        fake->held[fake->write_count] = tkd_body_hold(write->body);
        fake->bodies++;
    }
    fake->write_count++;
}

static struct fake_job *add(struct fake_store *fake)
{
    for (size_t i = 0; i < FAKE_JOBS; i++)
        if (fake->jobs[i].place.order == TKD_ORDER_NONE)
            return &fake->jobs[i];
    abort();
}

/* Apply a write to what the store knows. */
static void apply(struct fake_store *fake, const struct tkd_write *write,
                  struct tkd_body *body)
{
    struct fake_job *job = find(fake, write->id);
    if (job == NULL) {
        job = add(fake);
        job->id = write->id;
        job->home = write->home;
        job->body = body;
    }
    job->place = write->after;
    job->record_size = write->record_size;
    memcpy(job->record, write->record, sizeof job->record);
    if (job->place.order == TKD_ORDER_NONE) {
        tkd_body_release(fake->allocator, job->body);
        job->body = NULL;
    }
}

static void submit(struct tkd_store *store, uint64_t batch)
{
    struct fake_store *fake = of(store);
    if (fake->is_busy)
        blame(fake, "a batch is submitted while the store is busy");
    if (fake->batch_count > 0 && batch <= fake->batch)
        blame(fake, "the numbers of batches do not grow");
    fake->batch = batch;
    fake->batch_count++;
    fake->is_busy = true;
    for (; fake->submitted < fake->write_count; fake->submitted++) {
        apply(fake, &fake->writes[fake->submitted],
              fake->held[fake->submitted]);
        fake->held[fake->submitted] = NULL;
    }
    if (fake->is_forgetful)
        fake->submitted = fake->write_count = 0;
    if (fake->is_automatic)
        fake_commit(fake);
}

static bool is_busy(const struct tkd_store *store)
{
    return of(store)->is_busy;
}

static void push(struct fake_store *fake, const struct tkd_answer *answer)
{
    if (fake->answer_count == sizeof fake->answers / sizeof fake->answers[0])
        abort();
    fake->answers[fake->answer_count++] = *answer;
}

void fake_commit(struct fake_store *fake)
{
    if (!fake->is_busy || fake->has_failed) {
        fputs("fake_store: there is no batch to commit\n", stderr);
        abort();
    }
    fake->is_busy = false;
    push(fake, &(struct tkd_answer){.kind = TKD_ANSWER_DURABLE,
                                    .token = fake->batch});
}

void fake_fail(struct fake_store *fake)
{
    fake->has_failed = true;
    push(fake, &(struct tkd_answer){.kind = TKD_ANSWER_FAILED});
}

static bool take_question(struct tkd_store *store,
                          const struct tkd_question *question)
{
    struct fake_store *fake = of(store);
    if (fake->refuses_questions || fake->question_count == FAKE_QUESTIONS)
        return false;
    const struct fake_job *job = find(fake, question->id);
    if (question->is_body_only && job != NULL && question->home != job->home)
        blame(fake, "a question for a body has a wrong home");
    fake->questions[fake->question_count++] = *question;
    fake->asked++;
    if (fake->is_automatic)
        fake_answer(fake, fake->question_count - 1);
    return true;
}

static struct tkd_question take_out(struct fake_store *fake, size_t number)
{
    if (number >= fake->question_count) {
        fputs("fake_store: there is no such question\n", stderr);
        abort();
    }
    struct tkd_question question = fake->questions[number];
    fake->question_count--;
    memmove(&fake->questions[number], &fake->questions[number + 1],
            (fake->question_count - number) * sizeof fake->questions[0]);
    return question;
}

void fake_answer(struct fake_store *fake, size_t number)
{
    struct tkd_question question = take_out(fake, number);
    const struct fake_job *job = find(fake, question.id);
    struct tkd_answer answer = {.kind = TKD_ANSWER_JOB,
                                .token = question.token,
                                .id = question.id,
                                .is_found = job != NULL};
    if (job != NULL)
        answer.body = tkd_body_hold(job->body);
    if (job != NULL && !question.is_body_only) {
        answer.record_size = job->record_size;
        memcpy(answer.record, job->record, sizeof answer.record);
    }
    push(fake, &answer);
}

void fake_answer_missing(struct fake_store *fake, size_t number)
{
    struct tkd_question question = take_out(fake, number);
    push(fake, &(struct tkd_answer){.kind = TKD_ANSWER_JOB,
                                    .token = question.token,
                                    .id = question.id});
}

static bool poll(struct tkd_store *store, struct tkd_answer *answer)
{
    struct fake_store *fake = of(store);
    if (fake->answer_count == 0)
        return false;
    *answer = fake->answers[0];
    fake->answer_count--;
    memmove(fake->answers, fake->answers + 1,
            fake->answer_count * sizeof fake->answers[0]);
    return true;
}

/* Rows and lists.  A list is answered at once, and has all its jobs. */

static struct tkd_row *row_of(struct fake_store *fake, enum tkd_table table,
                              uint32_t key)
{
    for (size_t i = 0; i < fake->row_count; i++)
        if (fake->rows[i].table == table && fake->rows[i].key == key)
            return &fake->rows[i];
    if (fake->row_count == FAKE_ROWS)
        abort();
    return &fake->rows[fake->row_count++];
}

static void set(struct tkd_store *store, const struct tkd_row *row)
{
    if (row->size > TKD_ROW_MAX)
        blame(of(store), "a row is too large");
    *row_of(of(store), row->table, row->key) = *row;
}

static bool has_room(const struct tkd_store *store)
{
    return !of(store)->is_full;
}

static bool find_row(struct tkd_store *store, struct tkd_row *row)
{
    const struct tkd_row *best = NULL;
    for (size_t i = 0; i < of(store)->row_count; i++) {
        const struct tkd_row *other = &of(store)->rows[i];
        if (other->table == row->table && other->key >= row->key &&
            other->size > 0 && (best == NULL || other->key < best->key))
            best = other;
    }
    if (best != NULL)
        *row = *best;
    return best != NULL;
}

static bool is_in(const struct fake_job *job, const struct tkd_range *range)
{
    const struct tkd_place *place = &job->place;
    if (range->list == TKD_LIST_BURIED)
        return place->order == TKD_ORDER_BURIED;
    if (range->list == TKD_LIST_TUBE_DUE && place->tube != range->tube)
        return false;
    return place->order == TKD_ORDER_DUE && place->at < range->end &&
           (place->at > range->from.at ||
            (place->at == range->from.at && job->id >= range->from.id));
}

static int compare_items(const void *a, const void *b)
{
    const struct tkd_item *x = a, *y = b;
    if (x->place.at != y->place.at)
        return x->place.at < y->place.at ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

static bool read_list(struct tkd_store *store, const struct tkd_range *range,
                      struct tkd_answer *answer)
{
    static struct tkd_item items[FAKE_JOBS];
    struct fake_store *fake = of(store);
    size_t count = 0;
    for (size_t i = 0; i < FAKE_JOBS; i++) {
        const struct fake_job *job = &fake->jobs[i];
        if (!is_in(job, range))
            continue;
        items[count] = (struct tkd_item){.id = job->id,
                                         .place = job->place,
                                         .record_size = job->record_size};
        memcpy(items[count].record, job->record, sizeof job->record);
        count++;
    }
    qsort(items, count, sizeof *items, compare_items);
    size_t bytes = count * sizeof *items;
    *answer = (struct tkd_answer){
        .kind = TKD_ANSWER_LIST, .token = range->token, .is_at_end = true};
    answer->body = tkd_body_open(fake->allocator, (uint32_t)bytes);
    if (answer->body != NULL)
        memcpy(answer->body->bytes, items, bytes);
    return answer->body != NULL;
}

static bool take_list(struct tkd_store *store, const struct tkd_range *range)
{
    struct tkd_answer answer;
    if (!read_list(store, range, &answer))
        return false;
    push(of(store), &answer);
    return true;
}

static void measure(struct tkd_store *store, struct tkd_store_figures *figures)
{
    (void)store;
    *figures = (struct tkd_store_figures){0};
}

static void close_fake(struct tkd_store *store)
{
    struct fake_store *fake = of(store);
    for (size_t i = 0; i < fake->write_count; i++)
        tkd_body_release(fake->allocator, fake->held[i]);
    for (size_t i = 0; i < fake->answer_count; i++)
        tkd_body_release(fake->allocator, fake->answers[i].body);
    for (size_t i = 0; i < FAKE_JOBS; i++)
        tkd_body_release(fake->allocator, fake->jobs[i].body);
    free(fake);
}

struct fake_store *fake_open(const struct tkw_allocator *allocator)
{
    static const struct tkd_store_calls calls = {
        .reserve = reserve,
        .write = take_write,
        .submit = submit,
        .is_busy = is_busy,
        .set = set,
        .has_room = has_room,
        .ask = take_question,
        .list = take_list,
        .find_row = find_row,
        .read_list = read_list,
        .measure = measure,
        .poll = poll,
        .close = close_fake,
    };
    struct fake_store *fake = calloc(1, sizeof *fake);
    if (fake == NULL)
        abort();
    fake->store.calls = &calls;
    fake->allocator = allocator;
    return fake;
}

/* Bodies are copied: the engines of the two stores have different
 * allocators. */
void fake_copy(struct fake_store *to, const struct fake_store *from)
{
    for (size_t i = 0; i < FAKE_JOBS; i++) {
        if (from->jobs[i].place.order == TKD_ORDER_NONE)
            continue;
        const struct tkd_body *body = from->jobs[i].body;
        to->jobs[i] = from->jobs[i];
        to->jobs[i].body = tkd_body_open(to->allocator, body->size);
        if (to->jobs[i].body == NULL)
            abort();
        memcpy(to->jobs[i].body->bytes, body->bytes, body->size);
    }
    memcpy(to->rows, from->rows, sizeof to->rows);
    to->row_count = from->row_count;
}
