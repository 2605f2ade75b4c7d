/*
 * base/version.c - the version of the library at run time.
 */
#include <tickwheel/version.h>

const char *tkw_version(void)
{
    return TKW_VERSION;
}
