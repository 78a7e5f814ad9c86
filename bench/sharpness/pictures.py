"""Pictures as numpy arrays of height x width x channels: TIFF and PNG, as far as renderers write them."""

import struct
import zlib

import numpy


def write_tiff(path, values, bits=32):
    """Writes one channel, as floats or as whole numbers of 8 bits."""
    height, width = values.shape
    data = values.astype("<f4") if bits == 32 else numpy.rint(255 * values.clip(0, 1)).astype("u1")
    entries = [(256, 4, width), (257, 4, height), (258, 3, bits), (259, 3, 1), (262, 3, 1), (273, 4, 8),
               (277, 3, 1), (278, 4, height), (279, 4, data.nbytes), (339, 3, 3 if bits == 32 else 1)]
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHI", b"II", 42, 8 + data.nbytes) + data.tobytes())
        file.write(struct.pack("<H", len(entries)))
        for tag, kind, value in entries:
            file.write(struct.pack("<HHII", tag, kind, 1, value))
        file.write(struct.pack("<I", 0))


def write_png(path, values):
    """Writes a grey picture of 8 bits, as it would be seen (gamma 2.2)."""
    data = numpy.rint(255 * values.clip(0, 1) ** (1 / 2.2)).astype("u1")
    height, width = data.shape
    rows = b"".join(b"\0" + row.tobytes() for row in data)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for name, body in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
                           (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)))


def read(path):
    """Reads a TIFF or PNG; whole numbers become 0 to 1."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] in (b"II*\0", b"MM\0*"):
        return read_tiff(data)
    if data[:4] == b"\x89PNG":
        return read_png(data)
    raise ValueError(f"{path}: neither TIFF nor PNG")


def read_tiff(data):
    """Reads strips or tiles, chunky, without compression or with zlib, LZW or PackBits."""
    order = "<" if data[:2] == b"II" else ">"
    formats = {1: "B", 3: "H", 4: "I"}
    at = struct.unpack_from(order + "I", data, 4)[0]
    tags = {}
    for n in range(struct.unpack_from(order + "H", data, at)[0]):
        tag, kind, count = struct.unpack_from(order + "HHI", data, at + 2 + 12 * n)
        if kind not in formats:
            continue
        form = f"{order}{count}{formats[kind]}"
        where = at + 10 + 12 * n
        if struct.calcsize(form) > 4:
            where = struct.unpack_from(order + "I", data, where)[0]
        tags[tag] = struct.unpack_from(form, data, where)
    width, height, channels = tags[256][0], tags[257][0], tags.get(277, (1,))[0]
    bits, is_float = tags[258][0], tags.get(339, (1,))[0] == 3
    kind = numpy.dtype(f"{order}{'f' if is_float else 'u'}{bits // 8}")
    tiled = 324 in tags
    block_width = tags[322][0] if tiled else width
    block_height = tags[323][0] if tiled else min(tags.get(278, (height,))[0], height)
    offsets, sizes = (tags[324], tags[325]) if tiled else (tags[273], tags[279])
    across = -(-width // block_width)
    picture = numpy.zeros((height, width, channels))
    for n, (offset, size) in enumerate(zip(offsets, sizes)):
        left, top = n % across * block_width, n // across * block_height
        rows = block_height if tiled else min(block_height, height - top)
        body = unpacked(data[offset:offset + size], tags.get(259, (1,))[0])
        block = differences_added(body, tags.get(317, (1,))[0], kind, (rows, block_width, channels))
        block = block[:height - top, :width - left]
        picture[top:top + block.shape[0], left:left + block.shape[1]] = block
    return picture if is_float else picture / (2 ** bits - 1)


def unpacked(body, compression):
    if compression in (8, 32946):
        return zlib.decompress(body)
    if compression == 5:
        return lzw(body)
    if compression == 32773:
        return packbits(body)
    if compression != 1:
        raise ValueError(f"TIFF compression {compression}")
    return body


def lzw(body):
    start = [bytes([n]) for n in range(256)] + [b"", b""]
    table, out, last = list(start), [], b""
    bits, held, count = 9, 0, 0  # of a code; those that are read but not used
    for byte in body:
        held, count = held << 8 | byte, count + 8
        if count < bits:
            continue
        count -= bits
        code, held = held >> count, held & ((1 << count) - 1)
        if code == 257:
            break
        if code == 256:
            table, bits, last = list(start), 9, b""
            continue
        entry = table[code] if code < len(table) else last + last[:1]
        out.append(entry)
        if last:
            table.append(last + entry[:1])
        last = entry
        # Codes get longer one entry early.
        bits = min(max(9, (len(table) + 1).bit_length()), 12)
    return b"".join(out)


def packbits(body):
    out, at = bytearray(), 0
    while at < len(body):
        count = body[at]
        if count < 128:
            out += body[at + 1:at + 2 + count]
            at += 2 + count
        else:
            out += body[at + 1:at + 2] * (257 - count if count > 128 else 0)
            at += 2
    return bytes(out)


def differences_added(body, predictor, kind, shape):
    """Undoes TIFF's predictors: differences of numbers (2), or of the bytes of floats (3)."""
    rows, width, channels = shape
    if predictor == 3:
        size = kind.itemsize
        data = numpy.frombuffer(body, "u1", rows * width * channels * size).reshape(rows, size * width, channels)
        data = numpy.cumsum(data, axis=1, dtype="u1").reshape(rows, size, width * channels)
        return numpy.ascontiguousarray(data.transpose(0, 2, 1)).view(kind.newbyteorder(">")).reshape(shape)
    data = numpy.frombuffer(body, kind, rows * width * channels).reshape(shape)
    return numpy.cumsum(data, axis=1, dtype=kind) if predictor == 2 else data


def read_png(data):
    at, body = 8, b""
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        if name == b"IHDR":
            width, height, bits, colours, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, at + 8)
        if name == b"IDAT":
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(colours)
    if channels is None or bits < 8 or interlaced:
        raise ValueError("PNG with a palette, few bits or interlacing")
    step, raw, rows = channels * bits // 8, zlib.decompress(body), []
    before = bytearray(step * width)
    for row in range(height):
        start = row * (step * width + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + step * width])
        for i in range(len(line) if kind else 0):
            left, up = line[i - step] if i >= step else 0, before[i]
            corner = before[i - step] if i >= step else 0
            line[i] = (line[i] + (left, up, (left + up) // 2, paeth(left, up, corner))[kind - 1]) & 255
        rows.append(bytes(line))
        before = line
    return numpy.frombuffer(b"".join(rows), f">u{bits // 8}").reshape(height, width, channels) / (2 ** bits - 1)


def paeth(left, up, corner):
    guess = left + up - corner
    return min((left, up, corner), key=lambda x: abs(guess - x))
