/*
 * server/engine/model_main.c - the engine against an obviously right model, by
 * random commands in virtual time.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "hunt.h"

static const char help[] =
    "Usage: server_model [options]\n"
    "\n"
    "Sends random commands of several clients to an engine, and holds every\n"
    "reply against a model.  Exits with 0 if all were equal, with 1 if not: "
    "then\n"
    "a shrunk script is printed, and the line that replays it.\n"
    "\n"
    "  --ops N    acts in all (default 1000000)\n"
    "  --seed N   begin from this seed (default: a new one each time)\n"
    "  --case N   try only this case of the seed\n"
    "  --bug N    put a deliberate mistake into the model, from 1\n"
    "  --help     this text\n";

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static bool set_option(struct hunt *hunt, const char *name, const char *value)
{
    uint64_t number;
    if (value == NULL || !read_number(value, &number))
        return false;
    if (strcmp(name, "--ops") == 0) {
        hunt->acts_max = number;
    } else if (strcmp(name, "--seed") == 0) {
        hunt->seed = number;
    } else if (strcmp(name, "--case") == 0) {
        hunt->first_case = number;
        hunt->is_single = true;
    } else if (strcmp(name, "--bug") == 0) {
        hunt->bug = (enum model_bug)number;
        return number < MODEL_BUGS;
    } else {
        return false;
    }
    return true;
}

static uint64_t new_seed(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return ((uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000) %
           1000000000;
}

static int show_failure(const struct hunt *hunt)
{
    printf("%s\n%s\n%u operations are left.\nreplay: server_model --seed "
           "%" PRIu64 " --case %" PRIu64,
           hunt->script.data, hunt->diagnosis.data, hunt->shrunk_count,
           hunt->seed, hunt->failed_case);
    if (hunt->bug != MODEL_SOUND)
        printf(" --bug %d", (int)hunt->bug);
    printf("\n");
    return 1;
}

int main(int argc, char **argv)
{
    struct hunt hunt = {.acts_max = 1000000, .seed = new_seed()};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (!set_option(&hunt, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            fprintf(stderr, "server_model: wrong option %s (try --help)\n",
                    argv[i]);
            return 2;
        }
    }
    printf("seed %" PRIu64 "\n", hunt.seed);
    bool is_sound = hunt_run(&hunt);
    int status = is_sound ? 0 : show_failure(&hunt);
    if (is_sound)
        printf("%" PRIu64 " acts in %" PRIu64 " cases: all replies are equal\n",
               hunt.acts, hunt.cases);
    hunt_free(&hunt);
    return status;
}
