/*
 * tickwheel.h - everything that needs no other library than Linux has.
 *
 * Include the header of a layer, such as tickwheel/wheel.h, to have no more
 * than that: dial.h, wheel.h and pool.h are for any system.  tickwheel/libuv.h
 * and libevent.h are not included here.
 */
#ifndef TICKWHEEL_H
#define TICKWHEEL_H

#include <tickwheel/base.h>
#include <tickwheel/clock.h>
#include <tickwheel/dial.h>
#include <tickwheel/epoll.h>
#include <tickwheel/idle.h>
#include <tickwheel/key.h>
#include <tickwheel/monitor.h>
#include <tickwheel/pool.h>
#include <tickwheel/purgatory.h>
#include <tickwheel/service.h>
#include <tickwheel/version.h>
#include <tickwheel/wheel.h>

#endif
