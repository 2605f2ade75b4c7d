/*
 * service/bench.h - what the measurements of the service share.
 */
#ifndef SERVICE_BENCH_H
#define SERVICE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tickwheel/service.h>

enum { VALUES_MAX = 12, THREADS_MAX = 2, LANES_MAX = 4 };

/* How much of everything. */
struct scale {
    size_t pairs;
    size_t timers;
    uint64_t span_ns; /* that timers are spread over, or calls to one */
    uint64_t idle_ns;
    uint64_t lead_ns; /* in which all timers can be armed before the first */
};

/* In what the variants of a measurement differ; zero is the default. */
struct setting {
    uint64_t tick_ns;
    bool is_sparse; /* a hundredth of the timers */
    uint32_t shards;
    uint32_t workers;
    unsigned submit_threads; /* behind a queue, as a user would have them */
    uint64_t slack_ns;
    uint64_t jitter_ns;
    enum tkw_executor crowd;     /* where a burst runs ... */
    enum tkw_executor bystander; /* ... and the others */
};

struct measurement {
    const char *name;    /* for --only; several may have the same */
    const char *variant; /* what sets it apart from these */
    void (*run)(const struct scale *scale, const struct setting *setting,
                double *values);
    struct setting setting;
    const char *values[VALUES_MAX]; /* what each is, with its unit */
};

/* One after the other, the last without a name. */
extern const struct measurement call_measurements[];
extern const struct measurement late_measurements[];
extern const struct measurement shard_measurements[];
extern const struct measurement executor_measurements[];
extern const struct measurement burst_measurements[];
extern const struct measurement plan_measurements[];

/* Say what failed, and end. */
_Noreturn void fail(const char *what);

void *must_allocate(size_t count, size_t size);
uint64_t now_ns(void);
uint64_t cpu_ns(void);
void sleep_ns(uint64_t ns);
double resident_bytes(void);
uint64_t next_random(uint64_t *state);

struct tkw_service *open_service(uint64_t tick_ns, uint32_t shards);
void do_nothing(void *argument, const struct tkw_firing *firing);
tkw_handle arm(struct tkw_service *service, uint64_t delay_ns);

/* Far enough away that none fires meanwhile. */
uint64_t far_delay(uint64_t *dice);
void shuffle(tkw_handle *handles, size_t n, uint64_t *dice);

/* End, to be tried again with more of a lead, if that time has passed while
 * timers were armed for it. */
void be_before(uint64_t start_ns);

enum { EXIT_TOO_LATE = 3 }; /* what it ends with */

/* Wait until no timer is pending.  Returns the time of the processors that it
 * took. */
uint64_t wait_for_all(struct tkw_service *service);

/* Run it in so many threads, each with the same argument. */
void in_threads(unsigned count, void *(*run)(void *argument), void *argument);

/* Million pairs of arm and cancel a second. */
double pairs_by(unsigned threads, uint32_t shards, size_t count);

/*
 * How late timers were, noted by any of a few threads, each in a lane of its
 * own so that noting costs little; memory is touched before it is measured.
 */
struct record {
    struct lane {
        _Alignas(64) uint64_t *late_ns;
        size_t count;
        size_t early_count;
    } lanes[LANES_MAX];
    uint64_t *sorted; /* all of them, once nobody notes any more */
    size_t count;
};

void record_open(struct record *record, size_t room);
void record_close(struct record *record);

/* Note a timer that runs now, having been due then. */
void record_note(struct record *record, uint64_t due_ns);

/* A callback that does only that; its argument is the record. */
void note_late(void *record, const struct tkw_firing *firing);

/* How many were noted. */
size_t record_total(const struct record *record);

/* Sort what was noted, once; it must be so many, and none early. */
void record_sort(struct record *record, size_t count);

/* The value that so large a share is below, in microseconds; 1: the most. */
double record_us(const struct record *record, double share);

/* Timers that note their lateness, spread over a time. */
struct spread {
    struct tkw_service *service;
    struct record *record;
    size_t timers;
    uint64_t span_ns;
    uint64_t lead_ns;      /* until the first */
    uint64_t start_ns;     /* filled in */
    _Atomic uint64_t dice; /* the same; for the next thread that arms */
};

/* Arm them in so many threads, and wait until they have run.  Returns the time
 * of the processors for each, in ns. */
double spread_run(struct spread *spread, unsigned threads);

/* A queue with threads that run jobs, as a user of `submit` would have. */
struct queue;
struct queue *queue_open(unsigned threads);
int queue_submit(void *queue, const struct tkw_job *job);
void queue_close(struct queue *queue);

/* A service whose callbacks run where the setting says, and the queue that it
 * may need, to be closed after it. */
struct tkw_service *open_with_executors(const struct setting *setting,
                                        struct queue **queue);

#endif
