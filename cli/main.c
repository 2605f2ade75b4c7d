/*
 * main.c - the `tickwheel` program: pick the command.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include <tickwheel/version.h>

static const struct command {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"demo", demo_main, "show a wheel at work, in virtual time"},
    {"idle", idle_main, "find silent connections among 100,000"},
    {"purgatory", purgatory_main,
     "wait for a condition or a timeout, 300,000 times"},
    {"sim", sim_main, "find the geometry for a load: replay it on several"},
    {"where", where_main, "print the slots in which a deadline waits"},
    {"bench", bench_main, "measure wheel and pool beside a heap"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *out)
{
    fprintf(out, "usage: tickwheel COMMAND [OPTION...]\n"
                 "       tickwheel --help | --version\n\n");
    for (unsigned i = 0; i < COMMANDS; i++)
        fprintf(out, "    %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\ntickwheel COMMAND --help prints the options.\n");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr,
                "tickwheel: a command is missing; see tickwheel --help\n");
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0 && argc == 2) {
        printf("tickwheel %s\n", tkw_version());
        return EXIT_FINE;
    }
    for (unsigned i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    }
    fprintf(stderr,
            "tickwheel: there is no command '%s'; see tickwheel --help\n",
            argv[1]);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);

    /* A full disk shows only now; half a report must not look like success. */
    bool is_written = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (!is_written && status == EXIT_FINE) {
        fprintf(
            stderr,
            "tickwheel: cannot write to standard output; is the disk full?\n");
        status = EXIT_FAILED;
    }
    return status;
}
