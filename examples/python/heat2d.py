"""Heat that spreads over a plate, and a picture of it while it does.

    hostwire run -n 4 python examples/python/heat2d.py --picture terminal
    hostwire run -n 4 python examples/python/heat2d.py --picture png --frames out/heat

The plate is cut into strips of rows, one for each PE. After each step a PE puts its first and its
last row into the memory of its neighbours, each with a signal, and waits for theirs. Nobody waits for
anybody else. Every cell is computed in the same way wherever it lies, so the result does not depend
on the number of PEs, to the last bit: the program prints its checksum.
"""

import argparse
import hashlib
import os
import shutil
import struct
import sys
import zlib

import numpy as np

import hostwire

# Temperatures of the edges: a warm spot in the upper one, and cold ones.
HOT, COLD = 1.0, 0.0
# From cold to hot: red, green and blue, 0 to 255, at even distances.
COLORS = np.array(
    [(8, 10, 40), (60, 20, 120), (170, 30, 110), (235, 90, 50), (252, 200, 70), (255, 255, 230)]
)


class Strip:
    """The rows of this PE, in two generations, each with a row of a neighbour above and below."""

    def __init__(self, job, width, height):
        self.job = job
        bounds = [pe * height // job.pes for pe in range(job.pes + 1)]
        self.counts = np.diff(bounds).tolist()
        self.count = self.counts[job.pe]
        # All PEs have the same array; the strips of some are a row shorter.
        self.rows = job.zeros((2, max(self.counts) + 2, width), "float64")
        self.width = width
        # The newest generation that the neighbour above has put here, and that of the one below.
        self.ready = job.zeros(2, "uint64")
        self.has_above, self.has_below = job.pe > 0, job.pe + 1 < job.pes
        for rows in self.rows.local:
            rows[:] = COLD
            if not self.has_above:
                rows[0, width // 4 : width - width // 4] = HOT

    def step(self, number):
        """Computes generation `number` from the one before it, and shows its edges to neighbours."""
        old = self.rows.local[(number - 1) % 2]
        new = self.rows.local[number % 2]
        inner = slice(1, self.count + 1)
        new[inner, 1:-1] = 0.25 * (
            old[: self.count, 1:-1]
            + old[2 : self.count + 2, 1:-1]
            + old[inner, :-2]
            + old[inner, 2:]
        )
        job, generation = self.job, (number % 2) * self.rows.shape[1]
        # A neighbour reads this row of its generation after the signal, and has read what was there
        # before it sent the one that this PE has waited for: so nothing is overwritten too early.
        if self.has_above:
            at = (generation + self.counts[job.pe - 1] + 1) * self.width
            self.rows.put_signal(job.pe - 1, new[1], self.ready, number, at, 1)
        if self.has_below:
            at = generation * self.width
            self.rows.put_signal(job.pe + 1, new[self.count], self.ready, number, at, 0)
        if self.has_above:
            self.ready.wait_until(">=", number, 0)
        if self.has_below:
            self.ready.wait_until(">=", number, 1)

    def plate(self, number):
        """The whole plate of generation `number`, on all PEs."""
        own = self.rows.local[number % 2, 1 : self.count + 1]
        return self.job.world.collect(own)


def colored(plate):
    """The plate as bytes: red, green, blue of each cell."""
    # The eye sees more of the cold part so.
    place = np.sqrt(np.clip(plate, COLD, HOT)) * (len(COLORS) - 1)
    below = np.minimum(place.astype(int), len(COLORS) - 2)
    share = (place - below)[..., None]
    return (COLORS[below] * (1 - share) + COLORS[below + 1] * share).round().astype("uint8")


def shrunk(plate, height, width):
    """The plate in at most so many rows and columns, by leaving out some."""
    rows = np.linspace(0, plate.shape[0] - 1, min(height, plate.shape[0])).astype(int)
    columns = np.linspace(0, plate.shape[1] - 1, min(width, plate.shape[1])).astype(int)
    return plate[rows][:, columns]


def show(plate, title):
    """Draws it in the terminal: two rows of cells in a line of text."""
    size = shutil.get_terminal_size()
    pixels = colored(shrunk(plate, 2 * max(1, size.lines - 2), size.columns))
    if len(pixels) % 2:
        pixels = pixels[:-1]
    lines = []
    for upper, lower in zip(pixels[0::2].tolist(), pixels[1::2].tolist(), strict=True):
        cells = (
            "\x1b[38;2;{};{};{}m\x1b[48;2;{};{};{}m\u2580".format(*above, *below)
            for above, below in zip(upper, lower, strict=True)
        )
        lines.append("".join(cells) + "\x1b[0m\x1b[K")
    # To the upper left corner, and over what is there.
    print("\x1b[H" + "\n".join([title + "\x1b[K", *lines]), flush=True)


def write_png(path, plate):
    """Writes it as a picture, a cell a pixel."""
    pixels = colored(plate)
    height, width, _ = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def size(text):
    """WIDTHxHEIGHT."""
    width, _, height = text.partition("x")
    width, height = int(width), int(height)
    if width < 3 or height < 1:
        raise ValueError(text)
    return width, height


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=size, default="160x96", help="cells, WIDTHxHEIGHT")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--every", type=int, default=50, metavar="STEPS", help="between pictures")
    # A PE writes to its launcher and cannot see where that writes: so no escape codes unless asked for.
    parser.add_argument("--picture", choices=("terminal", "png", "none"), default="none")
    parser.add_argument("--frames", default="heat", metavar="DIR", help="where PNG files go")
    return parser.parse_args()


def main():
    options = arguments()
    width, height = options.size
    with hostwire.Job() as job:
        if height < job.pes:
            sys.exit(f"heat2d: {height} rows are too few for {job.pes} PEs; see --size")
        if options.picture == "png" and job.pe == 0:
            os.makedirs(options.frames, exist_ok=True)
        if options.picture == "terminal" and job.pe == 0:
            print("\x1b[2J", end="")
        strip = Strip(job, width, height)
        job.barrier()
        for number in range(1, options.steps + 1):
            strip.step(number)
            if options.picture == "none" or number % options.every:
                continue
            plate = strip.plate(number)
            if job.pe > 0:
                continue
            if options.picture == "png":
                write_png(os.path.join(options.frames, f"{number:07}.png"), plate)
            else:
                show(plate, f"step {number} of {options.steps}, {job.pes} PEs")
        plate = strip.plate(options.steps)
        if job.pe == 0:
            digest = hashlib.sha256(plate.tobytes()).hexdigest()[:16]
            print(f"{width}x{height}, {options.steps} steps, {job.pes} PEs: mean temperature "
                  f"{plate.mean():.9f}, checksum {digest}")


main()
