/*
 * options.c - what `tickwheel sim` was asked to do.
 */
#include "options.h"

#include "../commands.h"
#include "../load_option.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char usage_text[] =
    "usage: tickwheel sim [OPTION...] [TRACE]\n"
    "\n"
    "Replay the timer operations of a program on wheels of several\n"
    "geometries, in virtual time.  Print what each geometry costs, and\n"
    "recommend one.\n"
    "\n"
    "TRACE is a file of lines, or - for standard input:\n"
    "\n"
    "    time,operation,key,deadline\n"
    "    0,arm,one,445\n"
    "    10,postpone,one,900\n"
    "    12,cancel,one,\n"
    "    1000,advance,,\n"
    "\n"
    "or a reproducer of the model test.  Without TRACE, sim generates a load:\n"
    "\n"
    "    --load NAME         burst (default), requests or idle; see\n"
    "                        tickwheel demo --help\n"
    "    --timers N          number of timers, 1 to 100000000; default\n"
    "                        1000000, idle 100000\n"
    "    --delay MS          delay of each timer, 1 to 10^15; default\n"
    "                        1800000, half an hour; requests 10000,\n"
    "                        idle 30000\n"
    "    --seed N            seed of the random numbers; default 1\n"
    "\n"
    "Replay:\n"
    "\n"
    "    --geometry SIZES    slots of each level, lowest first: 20, 60,60,12;\n"
    "                        512r or 512,rounds for a hashed wheel;\n"
    "                        repeat up to 16 times; default: that of a\n"
    "                        reproducer, else 128,512,64  20  64  256\n"
    "                        60,60,24  65536r\n"
    "    --engine NAME       wheel (default), pool or both\n"
    "    --tick N            units of the trace in a tick; default: the\n"
    "                        number after \"# tick\" in the trace, else 1\n"
    "\n"
    "Output:\n"
    "\n"
    "    --csv               print the table as comma-separated values\n"
    "    --chart FILE        draw the cost of each geometry (SVG)\n"
    "    --film FILE         draw the dial of the first geometry (SVG)\n"
    "    --frames N          pictures of the film, 2 to 60; default 6\n"
    "    --from T            first tick of the film; default: of the load\n"
    "    --to T              last tick of the film; default: of the load\n"
    "    --write FILE        write the load as a trace\n"
    "    --quiet             draw no progress bar\n"
    "    --help              print this text\n"
    "\n"
    "How sim recommends a geometry: it drops those that take more than eight\n"
    "times the least memory, then those that cost more than twice the least\n"
    "time per operation.  Of the rest it takes the one whose worst step\n"
    "touches the fewest timers; of equals the cheapest, then the smallest.\n"
    "With fewer than 10000 operations it counts timers moved and slots\n"
    "visited instead of time; if there are none, it recommends nothing.\n"
    "A * marks the best of each column.\n";

static const struct option table[] = {
    LOAD_OPTIONS,
    {"geometry", required_argument, NULL, 'g'},
    {"engine", required_argument, NULL, 'e'},
    {"tick", required_argument, NULL, 'u'},
    {"csv", no_argument, NULL, 'c'},
    {"chart", required_argument, NULL, 'C'},
    {"film", required_argument, NULL, 'F'},
    {"frames", required_argument, NULL, 'n'},
    {"from", required_argument, NULL, 'b'},
    {"to", required_argument, NULL, 'z'},
    {"write", required_argument, NULL, 'w'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Which options were given that make sense only with others. */
struct given {
    const struct option *of_load; /* the last of each kind, or NULL */
    const struct option *of_film;
};

static bool refuse(const char *what)
{
    fprintf(stderr, "tickwheel: %s; see tickwheel sim --help\n", what);
    return false;
}

static bool refuse_option(const char *name, const char *what)
{
    fprintf(stderr, "tickwheel: --%s %s; see tickwheel sim --help\n", name,
            what);
    return false;
}

static bool read_geometry(struct sim_options *options, const char *text)
{
    if (options->geometry_count == SIM_GEOMETRIES_MAX)
        return refuse_option("geometry", "is given more than 16 times");
    return option_geometry("--geometry", text,
                           &options->geometries[options->geometry_count++]);
}

static bool read_engine(struct sim_options *options, const char *text)
{
    bool is_both = strcmp(text, "both") == 0;
    options->kind_count = 0;
    if (is_both || strcmp(text, engine_wheel.name) == 0)
        options->kinds[options->kind_count++] = &engine_wheel;
    if (is_both || strcmp(text, engine_pool.name) == 0)
        options->kinds[options->kind_count++] = &engine_pool;
    if (options->kind_count == 0)
        fprintf(stderr,
                "tickwheel: --engine is '%s'; give wheel, pool or both\n",
                text);
    return options->kind_count > 0;
}

static bool read_file(const char *name, const char *text, const char **path)
{
    if (text[0] == '\0' || strcmp(text, "-") == 0)
        return refuse_option(name, "needs the name of a file");
    *path = text;
    return true;
}

static bool read_film_option(struct sim_options *options, int c,
                             const char *text)
{
    switch (c) {
    case 'n':
        return option_number("--frames", text, 2, 60, &options->frames);
    case 'b':
        return option_number("--from", text, 0, UINT64_MAX, &options->from);
    default:
        return option_number("--to", text, 0, UINT64_MAX, &options->to);
    }
}

static bool read_option(struct sim_options *options, int c, char **argv)
{
    if (load_option_is(c))
        return load_option_read(&options->load, c, optarg);
    switch (c) {
    case 'g':
        return read_geometry(options, optarg);
    case 'e':
        return read_engine(options, optarg);
    case 'u':
        return option_number("--tick", optarg, 1, UINT64_MAX, &options->unit);
    case 'C':
        return read_file("chart", optarg, &options->chart);
    case 'F':
        return read_file("film", optarg, &options->film);
    case 'w':
        return read_file("write", optarg, &options->write);
    case 'n':
    case 'b':
    case 'z':
        return read_film_option(options, c, optarg);
    case 'c':
        return options->is_csv = true;
    case 'q':
        return options->is_quiet = true;
    default:
        option_refuse(c, argv, table);
        return false;
    }
}

/* What makes sense one by one may contradict itself. */
static bool is_consistent(const struct sim_options *options,
                          const struct given *given)
{
    if (options->trace != NULL && given->of_load != NULL)
        return refuse_option(
            given->of_load->name,
            "needs a generated load; leave out TRACE or this option");
    if (options->trace == NULL && options->unit != 0)
        return refuse_option("tick", "needs a TRACE");
    if (options->film == NULL && given->of_film != NULL)
        return refuse_option(given->of_film->name, "needs --film FILE");
    if (options->to < options->from)
        return refuse("--to is less than --from; give a later tick");
    return true;
}

static bool read_trace(struct sim_options *options, int argc, char **argv)
{
    if (argc - optind > 1)
        return refuse("sim takes one TRACE at most");
    options->trace = argv[optind]; /* NULL behind the last */
    if (options->trace != NULL && options->trace[0] == '\0')
        return refuse("TRACE is empty; give the name of a file, or -");
    return true;
}

bool sim_options_read(struct sim_options *options, int argc, char **argv,
                      int *status)
{
    struct given given = {0};
    *options = (struct sim_options){
        .load = load_option_defaults(),
        .kinds = {&engine_wheel},
        .kind_count = 1,
        .frames = 6,
        .to = TKW_NEVER,
    };
    *status = EXIT_USAGE;
    opterr = 0;
    int which = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", table, &which)) != -1;) {
        if (c == 'h') {
            *status = fputs(usage_text, stdout) < 0 ? EXIT_FAILED : EXIT_FINE;
            return false;
        }
        if (!read_option(options, c, argv))
            return false;
        if (load_option_is(c))
            given.of_load = &table[which];
        if (strchr("nbz", c) != NULL)
            given.of_film = &table[which];
    }
    load_option_complete(&options->load);
    return read_trace(options, argc, argv) && is_consistent(options, &given);
}
