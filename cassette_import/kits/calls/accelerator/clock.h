/* The clock of `time.perf_counter`, read as quickly as the machine can.

   Where the processor counts ticks at a constant rate, these are read, and compared with the system's clock once
   in a millisecond: that takes a third of the time. So a reading may differ from the system's clock by a
   microsecond. */

#ifndef CASSETTE_CLOCK_H
#define CASSETTE_CLOCK_H

#include <Python.h>

#if defined(__linux__)
#include <time.h>

static inline double
usual_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#elif PY_VERSION_HEX >= 0x030D0000
static inline double
usual_clock(void)
{
    PyTime_t now;
    return PyTime_PerfCounterRaw(&now) < 0 ? 0.0 : PyTime_AsSecondsDouble(now);
}
#else
#error "Only from Python 3.13 on is there a public function for the clock of this system."
#endif

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <x86intrin.h>

#define HAS_TICKS 1

static inline int
ticks_are_constant(void)
{
    unsigned int a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}
#else
#define HAS_TICKS 0
#define ticks_are_constant() 0
#define __rdtsc() 0ull
#endif

#define COMPARED_EACH 1e-3 /* seconds */

typedef struct {
    unsigned long long ticks, first_ticks; /* at the latest comparison with the system's clock, and at the first one */
    double seconds, first_seconds;
    double each;                /* the seconds of a tick; 0: not known yet, -1: ticks are not used */
    unsigned long long compare; /* after so many ticks */
} Ticks;

/* The seconds of a tick as the latest comparison in this process found them: a new clock is quick from the start. */
static double known_each = 0.0;

static inline void
begin_ticks(Ticks *self)
{
    self->each = HAS_TICKS && ticks_are_constant() ? known_each : -1.0;
    self->ticks = self->first_ticks = __rdtsc();
    self->seconds = self->first_seconds = usual_clock();
    self->compare = self->each > 0.0 ? (unsigned long long)(COMPARED_EACH / self->each) : 0;
}

/* Compare the ticks with the system's clock, and return that. */
static double
compared_clock(Ticks *self)
{
    unsigned long long before = __rdtsc();
    double seconds = usual_clock();
    unsigned long long after = __rdtsc();
    if (self->each < 0.0 || seconds - self->first_seconds < COMPARED_EACH) {
        return seconds;
    }
    double each = (seconds - self->first_seconds) / (double)(before - self->first_ticks);
    if ((double)(after - before) * each > 1e-6) { /* other programs ran meanwhile */
        return seconds;
    }
    if (self->each > 0.0 && (each > 1.01 * self->each || each < 0.99 * self->each)) {
        self->each = known_each = -1.0; /* their rate is not constant */
        return seconds;
    }
    self->each = known_each = each;
    self->ticks = before + (after - before) / 2;
    self->seconds = seconds;
    self->compare = (unsigned long long)(COMPARED_EACH / each);
    return seconds;
}

static inline double
quick_clock(Ticks *self)
{
    unsigned long long passed = __rdtsc() - self->ticks;
    return passed < self->compare ? self->seconds + (double)passed * self->each : compared_clock(self);
}

#endif
