/*
 * trial.c - children, and what became of them.
 */
/* For MAP_ANONYMOUS. */
#define _DEFAULT_SOURCE

#include "trial.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

/* Leave the failure where the parent will find it. */
static bool note(struct trial *trial, const struct judge *judge, bool is_fine)
{
    trial->has_failed = !is_fine;
    if (!is_fine) {
        trial->failure = judge->failure;
        trial->fault = judge->fault;
    }
    return is_fine;
}

bool trial_do(struct trial *trial, struct judge *judge)
{
    return note(trial, judge, judge_do(judge, &trial->tape.ops[trial->op_at]));
}

bool trial_finish(struct trial *trial, struct judge *judge)
{
    trial->op_at = trial->tape.op_count;
    return note(trial, judge, judge_finish(judge));
}

enum verdict trial_verdict(const struct trial *trial, int status)
{
    if (trial->has_failed)
        return VERDICT_LAW;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return VERDICT_HANG;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? VERDICT_FINE
                                                         : VERDICT_CRASH;
}

static void play(struct trial *trial, const struct engine *engine)
{
    struct judge judge;
    bool is_fine = true;

    if (!judge_open(&judge, engine, &trial->tape.world,
                    trial->tape.check_every))
        return;
    for (trial->op_at = 0; is_fine && trial->op_at < trial->tape.op_count;
         trial->op_at += is_fine)
        is_fine = trial_do(trial, &judge);
    if (is_fine)
        trial_finish(trial, &judge);
    judge_close(&judge);
}

static void silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nowhere >= 0)
        dup2(nowhere, STDERR_FILENO);
}

enum verdict trial_play(struct trial *trial, const struct engine *engine,
                        unsigned patience)
{
    int status = 0;

    trial->has_failed = false;
    trial->op_at = 0;
    pid_t child = fork();
    if (child == 0) {
        silence();
        alarm(patience);
        play(trial, engine);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return VERDICT_FINE; /* nothing learnt */
    return trial_verdict(trial, status);
}

const char *law_words(const char *law)
{
    static const struct {
        const char *law;
        const char *words;
    } laws[] = {
        {"L1", "never early"},
        {"L2", "complete: what is due is ready"},
        {"L3", "exactly one outcome per arming"},
        {"L4", "by deadline, equal ones in arming order"},
        {"L5", "the largest tick never comes"},
        {"L6", "a timer falls at most levels-1 times"},
        {"L7", "no empty ticks"},
        {"L8", "next is never later than the earliest deadline"},
        {"L9", "a bounded advance stops in order and can be resumed"},
        {"L15", "slots and occupancy agree"},
        {"L16", "the dead are few beside the living"},
    };

    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++)
        if (strcmp(laws[i].law, law) == 0)
            return laws[i].words;
    return "";
}

const char *call_words(enum call_kind kind)
{
    static const char *const words[] = {
        [CALL_ARM] = "arm",
        [CALL_ADVANCE] = "advance",
        [CALL_POSTPONE] = "postpone",
        [CALL_CANCEL] = "cancel",
        [CALL_ADVANCE_SOME] = "the budget of the advance that stopped",
        [CALL_IS_ARMED] = "is_armed",
        [CALL_CHECK] = "check",
        [CALL_POP] = "the timer popped",
        [CALL_DRAIN] = "the timer drained",
        [CALL_NOW] = "now",
        [CALL_NEXT] = "next",
        [CALL_COUNT] = "count",
        [CALL_WALK] = "timers walked",
        [CALL_ARMED] = "timers armed",
        [CALL_FIRED] = "timers fired",
        [CALL_CANCELLED] = "timers cancelled",
        [CALL_DRAINED] = "timers drained",
        [CALL_FALLS] = "falls",
        [CALL_REFILES] = "refiles",
        [CALL_PASSES] = "passes",
        [CALL_VISITS] = "visits",
        [CALL_STOPS] = "stops",
        [CALL_MOVES] = "falls, refiles and passes together",
        [CALL_DEAD] = "entries of no use",
        [CALL_TOUCHED] = "timers touched by the advance",
        [CALL_IDLE_STOPS] = "stops in a row without progress",
        [CALL_WAKES] = "wake-ups",
    };

    return words[kind];
}

const char *relation_sign(enum relation relation)
{
    static const char *const signs[] = {"==", "<=", ">=", "<", ">"};

    return signs[relation];
}

static void write_value(FILE *out, enum call_kind kind, uint64_t value)
{
    if ((kind == CALL_POP || kind == CALL_DRAIN) && value == NO_TIMER)
        fputs("none", out);
    else
        fprintf(out, "%" PRIu64, value);
}

void trial_write(FILE *out, const struct trial *trial, enum verdict verdict)
{
    const struct claim *claim = &trial->failure;

    if (verdict == VERDICT_HANG) {
        fputs("it did not come back", out);
    } else if (verdict != VERDICT_LAW) {
        fputs("it crashed", out);
    } else {
        fprintf(out, "%s (%s): %s", claim->law, law_words(claim->law),
                call_words(claim->about));
        if (claim->about == CALL_IS_ARMED || claim->about == CALL_CANCEL ||
            claim->about == CALL_POSTPONE)
            fprintf(out, " of timer %" PRIu64, claim->id);
        fputs(" is ", out);
        write_value(out, claim->about, claim->actual);
        fprintf(out, ", must be %s ", relation_sign(claim->relation));
        write_value(out, claim->about, claim->expected);
        if (claim->about == CALL_CHECK) {
            char text[TKW_FAULT_TEXT_MAX];
            tkw_fault_describe(&trial->fault, text, sizeof text);
            fprintf(out, ": %s", text);
        }
    }
    fputc('\n', out);
}
