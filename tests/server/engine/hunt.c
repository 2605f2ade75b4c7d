#define _DEFAULT_SOURCE

#include "hunt.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

enum {
    CASES = 256,      /* of one process */
    PATIENCE = 20,    /* seconds for one process without progress */
    TEXT_MAX = 65536, /* bytes of a script, and of a diagnosis */
};

/* What a child tells its parent. */
struct report {
    uint64_t acts;
    uint64_t at; /* the case that is tried */
    unsigned op_at;
    bool is_faulty;
    char script[TEXT_MAX];
    char diagnosis[TEXT_MAX];
};

static struct report *report_open(void)
{
    struct report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        abort();
    return report;
}

static uint64_t seed_of(uint64_t seed, uint64_t number)
{
    uint64_t state = seed * UINT64_C(1000003) + number;
    return random_next(&state);
}

static void diagnose(struct report *report, const struct trial *trial)
{
    report->is_faulty = true;
    snprintf(report->diagnosis, sizeof report->diagnosis,
             "%s\nreceived: %.4000s\nexpected: %.4000s\n", trial->fault,
             trial->received.size > 0 ? trial->received.data : "",
             trial->expected.size > 0 ? trial->expected.data : "");
}

/* Play a tape.  Returns whether it is sound. */
static bool play(struct report *report, const struct tape *tape,
                 enum model_bug bug, bool is_recorded)
{
    static struct trial trial;
    struct bytes script = {0};
    struct trial_options options = {
        .bug = bug,
        .script = is_recorded ? &script : NULL,
    };
    bool is_sound = trial_play(&trial, tape, &options);
    report->acts += trial.acts;
    report->op_at = trial.op_at;
    if (!is_sound)
        diagnose(report, &trial);
    if (is_recorded && script.size > 0)
        snprintf(report->script, sizeof report->script, "%s",
                 script.size < TEXT_MAX
                     ? script.data
                     : script.data + script.size - TEXT_MAX + 1);
    trial_free(&trial);
    bytes_free(&script);
    return is_sound;
}

/* Try cases, in a child. */
static void try_cases(struct report *report, const struct hunt *hunt)
{
    static struct tape tape;
    uint64_t end = report->at + (hunt->is_single ? 1 : CASES);
    for (; report->at < end; report->at++) {
        alarm(PATIENCE);
        tape_record(&tape, seed_of(hunt->seed, report->at));
        if (!play(report, &tape, hunt->bug, false) ||
            hunt->acts + report->acts >= hunt->acts_max)
            return;
    }
}

/* Wait for a child.  Returns whether it has ended well. */
static bool await(pid_t child, struct report *report)
{
    int status;
    if (waitpid(child, &status, 0) != child)
        abort();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return !report->is_faulty;
    report->is_faulty = true;
    if (WIFSIGNALED(status))
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "the engine ends with signal %d (%s)\n", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(report->diagnosis, sizeof report->diagnosis,
                 "the engine exits with %d\n", WEXITSTATUS(status));
    return false;
}

static pid_t begin_child(bool is_quiet)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        abort();
    if (child == 0 && is_quiet && freopen("/dev/null", "w", stderr) == NULL)
        _exit(0);
    return child;
}

/* Play a tape in a child.  Returns whether it is sound. */
static bool attempt(struct report *report, const struct tape *tape,
                    enum model_bug bug)
{
    report->is_faulty = false;
    report->diagnosis[0] = '\0';
    report->script[0] = '\0';
    report->op_at = tape->count;
    pid_t child = begin_child(true);
    if (child == 0) {
        alarm(PATIENCE);
        play(report, tape, bug, true);
        _exit(0);
    }
    return await(child, report);
}

static void leave_out(struct tape *tape, unsigned at, unsigned count)
{
    memmove(&tape->ops[at], &tape->ops[at + count],
            (tape->count - at - count) * sizeof tape->ops[0]);
    tape->count -= count;
}

/* Leave out operations, if the tape remains faulty without them. */
static void try_without(struct report *report, struct tape *tape,
                        enum model_bug bug, unsigned at, unsigned count)
{
    struct tape less = *tape;
    leave_out(&less, at, count);
    if (attempt(report, &less, bug))
        return;
    if (report->op_at < less.count)
        less.count = report->op_at + 1;
    *tape = less;
}

static void shrink(struct report *report, struct tape *tape, enum model_bug bug)
{
    for (unsigned size = tape->count / 2; size > 0; size /= 2)
        for (unsigned end = tape->count; end >= size;) {
            end -= size;
            try_without(report, tape, bug, end, size);
            end = end < tape->count ? end : tape->count;
        }
}

static void describe(struct hunt *hunt, struct report *report)
{
    static struct tape tape;
    hunt->failed_case = report->at;
    tape_record(&tape, seed_of(hunt->seed, report->at));
    if (!attempt(report, &tape, hunt->bug)) {
        shrink(report, &tape, hunt->bug);
        shrink(report, &tape, hunt->bug);
        attempt(report, &tape, hunt->bug);
    }
    hunt->shrunk_count = tape.count;
    bytes_append(&hunt->script, report->script, strlen(report->script));
    bytes_append(&hunt->diagnosis, report->diagnosis,
                 strlen(report->diagnosis));
}

bool hunt_run(struct hunt *hunt)
{
    struct report *report = report_open();
    bool is_sound = true;
    report->at = hunt->first_case;
    while (is_sound && hunt->acts < hunt->acts_max) {
        pid_t child = begin_child(false);
        if (child == 0) {
            try_cases(report, hunt);
            _exit(0);
        }
        is_sound = await(child, report);
        hunt->acts += report->acts;
        hunt->cases = report->at - hunt->first_case;
        report->acts = 0;
        if (hunt->is_single)
            break;
    }
    if (!is_sound)
        describe(hunt, report);
    munmap(report, sizeof *report);
    return is_sound;
}

void hunt_free(struct hunt *hunt)
{
    bytes_free(&hunt->script);
    bytes_free(&hunt->diagnosis);
}
