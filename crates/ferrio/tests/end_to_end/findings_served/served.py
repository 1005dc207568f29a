# A file system with one file of 64 MiB, served through /dev/fuse: served.py DIRECTORY. Ends when it is unmounted.
import ctypes, os, struct, sys

SIZE = 64 << 20
LOOKUP, GETATTR, OPEN, READ, STATFS, RELEASE, INIT, FLUSH, FORGET, BATCH_FORGET, OPENDIR, RELEASEDIR, INTERRUPT = 1, 3, 14, 15, 17, 18, 26, 25, 2, 42, 27, 29, 36
ENOENT, ENOSYS = 2, 38

def attributes(node):
    size, mode = (0, 0o040755) if node == 1 else (SIZE, 0o100644)
    return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

def answer(opcode, node, body):
    if opcode == INIT:
        major, minor, read_ahead, flags = struct.unpack_from("<IIII", body)
        return 0, struct.pack("<IIIIHHIIHH", 7, min(minor, 31), read_ahead, 0, 16, 16, 1 << 17, 1, 32, 0) + bytes(28)
    if opcode == LOOKUP:
        return (0, struct.pack("<QQQQII", 2, 0, 1, 1, 0, 0) + attributes(2)) if body == b"f\0" else (ENOENT, b"")
    if opcode == GETATTR:
        return 0, struct.pack("<QII", 1, 0, 0) + attributes(node)
    if opcode in (OPEN, OPENDIR):
        # Direct I/O, so that each read comes here.
        return 0, struct.pack("<QII", 1, 1, 0)
    if opcode == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        return 0, b"\x5a" * max(0, min(size, SIZE - offset))
    if opcode == STATFS:
        return 0, struct.pack("<QQQQQIIII", 1 << 20, 1 << 19, 1 << 19, 10, 10, 4096, 255, 4096, 0) + bytes(24)
    return (0, b"") if opcode in (RELEASE, RELEASEDIR, FLUSH) else (ENOSYS, b"")

device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"ferrio-test", sys.argv[1].encode(), b"fuse.ferrio", 6, options):
    sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
print("mounted", flush=True)
while True:
    try:
        request = os.read(device, (1 << 20) + 4096)
    except OSError:
        break
    _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
        continue
    error, body = answer(opcode, node, request[40:])
    os.write(device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
