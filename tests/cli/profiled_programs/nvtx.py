"""NVTX as its headers make it part of a program: functions that do nothing until a library has put its own in their places."""

import ctypes
import os

CALLBACKS, CORE, PUSH, POP, LENGTH = 1, 1, 9, 11, 16
EXPORT_TABLE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint)
PLACES = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint))


class Callbacks(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("places", PLACES)]


class Nvtx:
    """A copy of NVTX with the functions that push and pop ranges."""

    def __init__(self):
        self.addresses = (ctypes.c_void_p * LENGTH)()
        begin = ctypes.addressof(self.addresses)
        self.places = (ctypes.c_void_p * LENGTH)(*(begin + 8 * number for number in range(LENGTH)))
        self.callbacks = Callbacks(ctypes.sizeof(Callbacks), PLACES(self.give))
        self.export_table = EXPORT_TABLE(self.table)
        path = os.environ.get("NVTX_INJECTION64_PATH")
        if path:
            assert ctypes.CDLL(path).InitializeInjectionNvtx2(self.export_table) == 1

    def table(self, number):
        return ctypes.addressof(self.callbacks) if number == CALLBACKS else None

    def give(self, module, places, length):
        # Of the other modules this copy has no functions.
        places[0] = ctypes.addressof(self.places)
        length[0] = LENGTH if module == CORE else 0
        return 1

    def push(self, name):
        if self.addresses[PUSH]:
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(self.addresses[PUSH])(name)

    def pop(self):
        if self.addresses[POP]:
            ctypes.CFUNCTYPE(ctypes.c_int)(self.addresses[POP])()
