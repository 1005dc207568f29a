/*
 * ferrio_engine.h: the interface between ferrio and an engine in a shared library.
 *
 * A library that exports ferrio_engine() is an engine of ferrio:
 *
 *     cc -shared -fPIC -O2 -I include -o memory.so memory.c
 *     ferrio --name=a --ioengine=external:./memory.so --rw=randread --bs=4k --library_options=size=67108864
 *     ferrio --enghelp=./memory.so
 *
 * The page docs/embedding.md explains it, examples/engine-c/memory.c is a whole engine.
 *
 * Rules
 * - All functions return 0 (or what their comment says) for success, and a negative errno for a failure: -EIO, not EIO or -1.
 * - ferrio calls an engine from one thread, the one that called start(). Several jobs that are threads of one process call start()
 *   several times and use their engines side by side, so variables that engines share need a lock. An engine may have threads of its
 *   own; it makes them in start() or later, because a job may be a process that is made after target_bytes() was called.
 * - Pointers that ferrio passes are valid until the function returns, but for the buffer of an I/O: it is the engine's until the I/O
 *   has completed.
 * - A function that is not needed is NULL; start, queue and stop must be there, and reap where queue returns FERRIO_ENGINE_QUEUED.
 *
 * Versions: a library is built for one version of this file. ferrio passes the version that it has to ferrio_engine(), and refuses a
 * library whose `version` is another one. A later version of ferrio that has the same number accepts libraries made before it: fields
 * are only added at the end, and `struct_bytes` says how many of them a library knows.
 *
 * This file may be used under the terms of either the MIT or the Apache-2.0 licence.
 */
#ifndef FERRIO_ENGINE_H
#define FERRIO_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define FERRIO_ENGINE_VERSION 1u

/* Kinds of I/O: ferrio_engine_io.direction. */
#define FERRIO_ENGINE_READ 0u
#define FERRIO_ENGINE_WRITE 1u
#define FERRIO_ENGINE_TRIM 2u
/* All that completed before becomes durable; length and buffer have no meaning. */
#define FERRIO_ENGINE_SYNC 3u

/* Flags of an engine: ferrio_engine_api.flags. ferrio refuses jobs that need what is not set. */
#define FERRIO_ENGINE_CAN_WRITE 0x1u
#define FERRIO_ENGINE_CAN_TRIM 0x2u
#define FERRIO_ENGINE_CAN_SYNC 0x4u

/* Answers of queue(). */
#define FERRIO_ENGINE_COMPLETED 0 /* the I/O is done as a whole */
#define FERRIO_ENGINE_QUEUED 1    /* reap() will return the I/O */
#define FERRIO_ENGINE_BUSY 2      /* no room: ferrio commits, reaps at least one I/O, and offers this one again */

/* An option of the engine, given as --library_options=NAME=VALUE[,NAME=VALUE]. A list of options ends with an entry without a name. */
struct ferrio_engine_option {
    const char *name;          /* without '=' and ',' */
    const char *help;          /* one line */
    const char *default_value; /* NULL: the option is absent unless a job gives it */
};

/* An option that is in force. */
struct ferrio_engine_value {
    const char *name;
    const char *value;
};

/* A job, as an engine sees it. */
struct ferrio_engine_job {
    uint32_t struct_bytes;  /* sizeof(struct ferrio_engine_job) of ferrio */
    uint32_t iodepth;       /* most I/Os in flight; their tags are below it */
    uint32_t n_targets;     /* their indexes are below it */
    uint32_t n_values;      /* length of `values` */
    uint64_t max_io_bytes;  /* longest I/O */
    const struct ferrio_engine_value *values; /* each declared option that was given or has a default */
    const char *name;       /* name of the job */
};

/* An I/O. */
struct ferrio_engine_io {
    uint32_t struct_bytes; /* sizeof(struct ferrio_engine_io) of ferrio */
    uint32_t tag;          /* names the I/O while it is in flight */
    uint32_t target;       /* index of the target */
    uint32_t direction;    /* FERRIO_ENGINE_READ and so on */
    uint64_t offset_bytes;
    uint64_t length_bytes;
    void *buffer; /* filled by a read; NULL for trims and syncs */
};

/* A completed I/O. */
struct ferrio_engine_event {
    uint32_t tag;
    uint32_t reserved; /* 0 */
    int64_t result;    /* bytes that were moved (of a trim or a sync: the length that was asked for), or a negative errno */
};

/* The engine. */
struct ferrio_engine_api {
    uint32_t version;      /* FERRIO_ENGINE_VERSION */
    uint32_t struct_bytes; /* sizeof(struct ferrio_engine_api) */
    const char *name;      /* short, for messages */
    const char *help;      /* one line */
    uint32_t flags;        /* FERRIO_ENGINE_CAN_WRITE and so on */
    uint32_t reserved;     /* 0 */
    const struct ferrio_engine_option *options; /* NULL: none */

    /*
     * Finds the size of a target before the job starts, perhaps in another process. `values` and n_values of the job are set. On
     * failure a text for the user may be put into `error`, at most error_bytes long with its final NUL.
     */
    int (*target_bytes)(const struct ferrio_engine_job *job, const char *target, uint64_t *bytes, char *error, size_t error_bytes);

    /* Starts an engine for a job, and puts what names it in all later calls into *engine. Memory is best allocated here. */
    int (*start)(const struct ferrio_engine_job *job, void **engine, char *error, size_t error_bytes);

    /* Opens a target (`writes` is not 0: for writing too), and closes one of which nothing is in flight. */
    int (*open)(void *engine, uint32_t target_index, const char *target, int writes, char *error, size_t error_bytes);
    void (*close)(void *engine, uint32_t target_index);

    /* Starts an I/O, or does it. A negative errno is the error of this I/O, which is then over. */
    int (*queue)(void *engine, const struct ferrio_engine_io *io);

    /* Sends what was queued on its way. */
    int (*commit)(void *engine);

    /*
     * Waits until `min` I/Os have completed, or timeout_ns are over, and puts up to `max` completed ones into `events`. Returns their
     * number, perhaps 0, or a negative errno if the engine cannot go on. With `min` 0 it only looks. I/Os that complete within queue()
     * are not among them.
     */
    int (*reap)(void *engine, uint32_t min, uint32_t max, uint64_t timeout_ns, struct ferrio_engine_event *events);

    /* Gives up what is in flight: the job ends. No buffer may be used after this, and reap() is not called again for these I/Os. */
    void (*cancel)(void *engine);

    /* Ends the engine. Nothing is in flight and no target is open. */
    void (*stop)(void *engine);
};

/*
 * The one function that a library exports. `version` is the version of ferrio. The engine that is returned stays as it is for as long as
 * the process lives. NULL: the library does not work with this version.
 */
const struct ferrio_engine_api *ferrio_engine(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
