/*
 * draft.c - a file that is there only when it is complete.
 */
#define _DEFAULT_SOURCE

#include "draft.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* "chart.svg" becomes "chart.svg.1234.part". */
static char *beside(const char *target)
{
    size_t room = strlen(target) + 40;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s.%ld.part", target, (long)getpid());
    return path;
}

static int open_file(struct draft *draft)
{
    if (is_special(draft->target)) {
        draft->file = fopen(draft->target, "w");
        return draft->file != NULL ? 0 : -errno;
    }
    draft->path = beside(draft->target);
    if (draft->path == NULL)
        return -ENOMEM;
    draft->file = fopen(draft->path, "w");
    return draft->file != NULL ? 0 : -errno;
}

int draft_open(struct draft *draft, const char *path)
{
    *draft = (struct draft){0};
    if (path == NULL)
        return 0;
    /* A link stays a link: what it leads to is replaced. */
    draft->target = realpath(path, NULL);
    if (draft->target == NULL)
        draft->target = strdup(path);
    if (draft->target == NULL)
        return -ENOMEM;
    int error = open_file(draft);
    if (error != 0)
        draft_drop(draft);
    return error;
}

static int close_file(struct draft *draft)
{
    errno = 0;
    bool has_failed = ferror(draft->file) != 0;
    has_failed |= fclose(draft->file) != 0;
    draft->file = NULL;
    if (!has_failed)
        return 0;
    return errno != 0 ? -errno : -EIO;
}

int draft_finish(struct draft *draft)
{
    if (draft->file == NULL)
        return 0;
    int error = close_file(draft);
    if (error == 0 && draft->path != NULL) {
        if (rename(draft->path, draft->target) != 0)
            error = -errno;
        else
            draft->path[0] = '\0';
    }
    draft_drop(draft);
    return error;
}

void draft_drop(struct draft *draft)
{
    if (draft->file != NULL)
        fclose(draft->file);
    if (draft->path != NULL && draft->path[0] != '\0')
        remove(draft->path);
    free(draft->path);
    free(draft->target);
    *draft = (struct draft){0};
}
