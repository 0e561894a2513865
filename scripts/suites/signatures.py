"""Kernels of a PTX file and arguments for them, made of the types in their demangled names."""

import re
import subprocess

# Its name, and its parameters in brackets, if there are any.
ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^()]*)\))?[^{;]*\{")
PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?(?:\.align\s+\d+\s+)?\.(\w+)(?:\s+\.ptr[^,]*?)?\s+[\w$]+(?:\[(\d+)\])?")

# `ridgepoint run`'s name of a C type.
TYPES = {
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "bool": "u8",
    "short": "i16", "unsigned short": "u16", "int": "i32", "unsigned int": "u32",
    "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64",
    "float": "f32", "double": "f64", "__half": "f16", "__nv_bfloat16": "bf16",
}


class Kernel:
    """A kernel: its name in the PTX, as its author wrote it, and its parameters' C types beside their PTX types."""

    def __init__(self, name, shown, types, parameters, text):
        self.name, self.shown, self.types, self.parameters, self.text = name, shown, types, parameters, text

    def argument(self, place, array, scalar, structure=lambda alignment, size: f"bytes:{'00' * size}"):
        """Returns `--arg` for a parameter: `array` of a type's name gives elements and their values, `scalar` a value."""
        (ptx, alignment, size) = self.parameters[place]
        type = self.types[place] if place < len(self.types) else None
        if type and type.endswith("*"):
            element = re.sub(r"\bconst\b|\bvolatile\b|\*$", "", type).strip()
            if element.endswith("*"):
                return None
            return array(TYPES.get(element, "u8"))
        if size:
            return structure(alignment, size)
        plain = re.sub(r"\bconst\b|\bvolatile\b|&", "", type or "").strip()
        name = TYPES.get(plain) or {"f": "f", "b": "u"}.get(ptx[0], ptx[0]).replace("s", "i") + ptx[1:]
        return f"{name}:{scalar(name)}"


def kernels(ptx):
    """Returns the kernels of a PTX file, in its order."""
    found = list(ENTRY.finditer(ptx))
    demangled = subprocess.run(["c++filt"], input="\n".join(it[1] for it in found), capture_output=True, text=True, check=True)
    result = []
    for entry, shown in zip(found, demangled.stdout.splitlines()):
        parameters = [(it[2], int(it[1] or 0), int(it[3] or 0)) for it in PARAMETER.finditer(entry[2] or "")]
        end = ptx.find("\n}", entry.end())
        result.append(Kernel(entry[1], shown, types_of(shown), parameters, ptx[entry.start() : end]))
    return result


def types_of(shown):
    """Splits the parameters of a demangled name at commas outside brackets."""
    if "(" not in shown:
        return []
    depth, start = 0, None
    # The last opening bracket at depth 0 begins the parameters: a template's arguments may hold brackets, too.
    for place in range(len(shown) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(shown[place], 0)
        if depth == 0:
            start = place
            break
    parts, depth, part = [], 0, ""
    for letter in shown[start + 1 : -1]:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() else parts
