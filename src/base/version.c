/*
 * base/version.c - which tickwheel is being run.
 */
#include <tickwheel/version.h>

const char *tkw_version(void)
{
    return TKW_VERSION;
}
