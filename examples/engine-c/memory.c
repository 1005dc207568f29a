/*
 * An engine of ferrio in C: targets of memory, whose I/Os complete when they are reaped.
 *
 *     cc -shared -fPIC -O2 -Wall -I include -o memory.so examples/engine-c/memory.c
 *     ferrio --name=a --ioengine=external:./memory.so --rw=randrw --bs=4k --iodepth=16 --size=1m --verify=crc32c
 */
#include "ferrio_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct target {
    char *bytes;
};

struct memory {
    uint64_t size_bytes;
    uint64_t fail_at;
    uint32_t n_targets;
    uint32_t iodepth;
    struct target *targets;
    /* I/Os that were queued, oldest first, as a ring. */
    struct ferrio_engine_event *done;
    uint32_t first, n_done;
};

static const struct ferrio_engine_option options[] = {
    {"size", "Size of each target, bytes", "16777216"},
    {"fail_at", "Offset at which each I/O fails with EIO, bytes", NULL},
    {NULL, NULL, NULL},
};

static const char *value_of(const struct ferrio_engine_job *job, const char *name)
{
    for (uint32_t i = 0; i < job->n_values; i++)
        if (!strcmp(job->values[i].name, name))
            return job->values[i].value;
    return NULL;
}

static int number_of(const struct ferrio_engine_job *job, const char *name, uint64_t *number, char *error, size_t error_bytes)
{
    const char *text = value_of(job, name);
    char *end;
    if (!text)
        return 0;
    errno = 0;
    *number = strtoull(text, &end, 0);
    if (errno || end == text || *end) {
        snprintf(error, error_bytes, "%s=%s: not a number of bytes", name, text);
        return -EINVAL;
    }
    return 0;
}

static int target_bytes(const struct ferrio_engine_job *job, const char *target, uint64_t *bytes, char *error, size_t error_bytes)
{
    (void)target;
    return number_of(job, "size", bytes, error, error_bytes);
}

static void stop(void *engine)
{
    struct memory *memory = engine;
    for (uint32_t i = 0; memory->targets && i < memory->n_targets; i++)
        free(memory->targets[i].bytes);
    free(memory->targets);
    free(memory->done);
    free(memory);
}

static int start(const struct ferrio_engine_job *job, void **engine, char *error, size_t error_bytes)
{
    struct memory *memory = calloc(1, sizeof *memory);
    int result;
    if (!memory)
        return -ENOMEM;
    memory->fail_at = UINT64_MAX;
    memory->n_targets = job->n_targets;
    memory->iodepth = job->iodepth;
    memory->targets = calloc(job->n_targets ? job->n_targets : 1, sizeof *memory->targets);
    memory->done = calloc(job->iodepth, sizeof *memory->done);
    result = memory->targets && memory->done ? 0 : -ENOMEM;
    if (!result)
        result = number_of(job, "size", &memory->size_bytes, error, error_bytes);
    if (!result)
        result = number_of(job, "fail_at", &memory->fail_at, error, error_bytes);
    if (result)
        stop(memory);
    else
        *engine = memory;
    return result;
}

static int open_target(void *engine, uint32_t index, const char *target, int writes, char *error, size_t error_bytes)
{
    struct memory *memory = engine;
    (void)writes;
    if (!memory->targets[index].bytes)
        memory->targets[index].bytes = calloc(1, memory->size_bytes);
    if (memory->targets[index].bytes)
        return 0;
    snprintf(error, error_bytes, "no memory for %s", target);
    return -ENOMEM;
}

static int queue(void *engine, const struct ferrio_engine_io *io)
{
    struct memory *memory = engine;
    char *place = memory->targets[io->target].bytes + io->offset_bytes;
    struct ferrio_engine_event event = {io->tag, 0, (int64_t)io->length_bytes};
    if (io->direction == FERRIO_ENGINE_SYNC)
        return FERRIO_ENGINE_COMPLETED;
    if (io->offset_bytes > memory->size_bytes || io->length_bytes > memory->size_bytes - io->offset_bytes)
        return -ENOSPC;
    if (memory->n_done == memory->iodepth)
        return FERRIO_ENGINE_BUSY;
    if (io->offset_bytes == memory->fail_at)
        event.result = -EIO;
    else if (io->direction == FERRIO_ENGINE_READ)
        memcpy(io->buffer, place, io->length_bytes);
    else if (io->direction == FERRIO_ENGINE_WRITE)
        memcpy(place, io->buffer, io->length_bytes);
    else
        memset(place, 0, io->length_bytes);
    memory->done[(memory->first + memory->n_done++) % memory->iodepth] = event;
    return FERRIO_ENGINE_QUEUED;
}

static int reap(void *engine, uint32_t min, uint32_t max, uint64_t timeout_ns, struct ferrio_engine_event *events)
{
    struct memory *memory = engine;
    uint32_t n = 0;
    (void)min, (void)timeout_ns;
    for (; n < max && memory->n_done; n++, memory->n_done--) {
        events[n] = memory->done[memory->first];
        memory->first = (memory->first + 1) % memory->iodepth;
    }
    return (int)n;
}

static void cancel(void *engine)
{
    ((struct memory *)engine)->n_done = 0;
}

static const struct ferrio_engine_api api = {
    .version = FERRIO_ENGINE_VERSION,
    .struct_bytes = sizeof api,
    .name = "memory",
    .help = "Targets of memory, as an example of an engine",
    .flags = FERRIO_ENGINE_CAN_WRITE | FERRIO_ENGINE_CAN_TRIM | FERRIO_ENGINE_CAN_SYNC,
    .options = options,
    .target_bytes = target_bytes,
    .start = start,
    .open = open_target,
    .queue = queue,
    .reap = reap,
    .cancel = cancel,
    .stop = stop,
};

const struct ferrio_engine_api *ferrio_engine(uint32_t version)
{
    return version == FERRIO_ENGINE_VERSION ? &api : NULL;
}
