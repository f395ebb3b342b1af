"""Exchanges two paths over and over: what a client does that wants a service
to open one file and get another.

Run as: python3 swapper.py NAME NAME [NAME NAME...]; ends when its standard
input does.  Prints "ready" once the first exchange is done.
"""
import ctypes
import os
import select
import sys

RENAME_EXCHANGE = 2
PAUSE_S = 0.0002


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    names = [os.fsencode(n) for n in sys.argv[1:]]
    pairs = list(zip(names[::2], names[1::2]))
    count = 0
    while True:
        for first, second in pairs:
            if libc.renameat2(-100, first, -100, second, RENAME_EXCHANGE):
                raise OSError(ctypes.get_errno(), "renameat2", first)
        count += 1
        if count == 1:
            print("ready", flush=True)
        if select.select([0], [], [], PAUSE_S)[0]:
            break
    # As it was: an even number of exchanges.
    if count % 2:
        for first, second in pairs:
            libc.renameat2(-100, first, -100, second, RENAME_EXCHANGE)
    print(count, flush=True)


main()
