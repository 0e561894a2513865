"""PyTorch's operators on the CPU, for programs that `ridgepoint emulate` starts.

PyTorch's kernels for GPUs are machine code, which the emulator does not execute. So each operator that has one fetches its
operands from the device, calls the same operator for the CPU, and writes what that has made back, in the current stream. Memory,
streams, events and views stay PyTorch's own, and so do kernels of Triton and torch.compile, which the emulator runs and checks.
"""

import ctypes
import functools
import inspect
import sys
import warnings

import torch

# They launch nothing: memory, and what is known of it.
KEPT = {
    "aten::_local_scalar_dense",
    "aten::_pin_memory",
    "aten::empty.memory_format",
    "aten::empty_strided",
    "aten::is_pinned",
    "aten::is_set_to",
    "aten::record_stream",
    "aten::resize_",
    "aten::set_",
    "aten::set_.source_Storage",
    "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor",
}
# Those that would call others, which there are for GPUs alone.
WHOLE = {"aten::convolution", "aten::convolution_backward"}
# Those that compute in 16 bits on a CPU, where a GPU does in 32: so many of their results are rounded, the first ones.
WIDENED = {
    "aten::embedding_dense_backward": 1,
    "aten::native_layer_norm": 1,
    "aten::native_layer_norm_backward": 3,
}


@functools.cache
def driver():
    return ctypes.CDLL("libcuda.so.1")


@functools.cache
def tell():
    print(
        "ridgepoint: PyTorch's own kernels are machine code; its operators run on the CPU, and are not checked",
        file=sys.stderr,
    )


def copy_bytes(to, source, count, device):
    """Copies bytes between a device and the host, in the device's current stream."""
    if count == 0:
        return
    with torch.cuda.device(device):
        stream = torch.cuda.current_stream().cuda_stream
        function = driver().cuMemcpyAsync
        pointer = ctypes.c_uint64
        error = function(pointer(to), pointer(source), ctypes.c_size_t(count), ctypes.c_void_p(stream))
    if error:
        raise RuntimeError(f"CUDA driver error {error}: a copy of {count} bytes for an operator of PyTorch")


def reach(tensor):
    """How many elements of memory it reaches over, from its first one."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))


def is_dense(tensor):
    """Whether it has each element of the memory that it reaches over, once."""
    return reach(tensor) == tensor.numel()


def seen_as(memory, tensor):
    """The view of memory that a tensor is of its own: its numbers may be conjugate or negative."""
    view = memory.as_strided(tensor.size(), tensor.stride())
    view = view.conj() if tensor.is_conj() else view
    return torch._neg_view(view) if tensor.is_neg() else view


def fetched(tensor):
    """The same on the CPU, laid out alike."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError("`ridgepoint emulate` runs PyTorch's operators on the CPU, where no CUDA graph can capture them")
    memory = torch.empty(reach(tensor), dtype=tensor.dtype)
    copy_bytes(memory.data_ptr(), tensor.data_ptr(), memory.nbytes, tensor.device)
    # Functions of the host may be in front of the copy.
    torch.cuda.current_stream(tensor.device).synchronize()
    return seen_as(memory, tensor)


def write(tensor, values):
    """Gives a tensor of a device the values of one of the CPU, and its size."""
    if tensor.size() != values.size():
        tensor.resize_(values.size())
    if not is_dense(tensor):
        # What lies between its elements is written back as it is now: other operands may have changed it.
        values = fetched(tensor).copy_(values)
    elif tensor.stride() != values.stride():
        values = seen_as(torch.empty(reach(tensor), dtype=tensor.dtype), tensor).copy_(values)
    copy_bytes(tensor.data_ptr(), values.data_ptr(), reach(tensor) * tensor.element_size(), tensor.device)


def sent(values, device):
    """The same on a device."""
    values = values.resolve_conj().resolve_neg()
    tensor = torch.empty_strided(values.size(), values.stride(), dtype=values.dtype, device=device)
    write(tensor, values)
    return tensor


def generator(of_device):
    """A generator of the CPU that goes on where one of a device is. That goes on, too."""
    seed, offset = of_device.initial_seed(), of_device.get_offset()
    of_device.set_offset(offset + 4)
    return torch.Generator().manual_seed((seed + offset * 0x9E3779B97F4A7C15) % 2**63)


def softmax_by(operator):
    """A softmax of 16 bits into 32, which is of 32 bits alone on a CPU."""
    return lambda values, dimension, half_to_float: operator(values.float() if half_to_float else values, dimension, False)


def softmax_backward_by(operator):
    """Its gradient."""
    return lambda gradient, output, dimension, to: operator(gradient, output, dimension, gradient.dtype).to(to)


def rms_norm_backward(gradient, values, shape, scale, weight, wanted):
    normalized = values.float() * scale.float()
    weighted = gradient.float() * (1 if weight is None else weight.float())
    inner = tuple(range(-len(shape), 0))
    of_values = scale.float() * (weighted - normalized * (weighted * normalized).mean(inner, keepdim=True))
    of_weight = None
    if weight is not None and wanted[1]:
        of_weight = (gradient.float() * normalized).sum(tuple(range(values.dim() - len(shape)))).to(weight.dtype)
    return of_values.to(values.dtype), of_weight


# Those that a CPU has not at all, or of fewer types.
REPLACED = {
    "aten::_fused_rms_norm_backward": rms_norm_backward,
    "aten::_log_softmax": softmax_by(torch.ops.aten._log_softmax),
    "aten::_log_softmax_backward_data": softmax_backward_by(torch.ops.aten._log_softmax_backward_data),
    "aten::_softmax": softmax_by(torch.ops.aten._softmax),
    "aten::_softmax_backward_data": softmax_backward_by(torch.ops.aten._softmax_backward_data),
}


class Call:
    """The operands of an operator, as the CPU is given them."""

    def __init__(self, is_widened):
        self.device = None
        self.is_widened = is_widened
        # The type of 16 bits that operands had.
        self.narrow = None
        # By identity, as an operator may write to an operand and return it.
        self.of_device = []

    def number(self):
        """The device's."""
        return torch.cuda.current_device() if self.device is None or self.device.index is None else self.device.index

    def lower(self, value):
        if isinstance(value, torch.Tensor) and value.is_cuda:
            self.device = self.device or value.device
            known = (copy for tensor, copy in self.of_device if tensor is value)
            copy = next(known, None)
            if copy is None:
                copy = fetched(value)
                if self.is_widened and copy.dtype in (torch.float16, torch.bfloat16):
                    self.narrow, copy = copy.dtype, copy.float()
                self.of_device.append((value, copy))
            return copy
        if isinstance(value, torch.device) and value.type == "cuda":
            self.device = value
            return torch.device("cpu")
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            return generator(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.lower, value))
        return value

    def finish(self, value):
        """Writes what an operand has become."""
        if isinstance(value, (list, tuple)):
            for each in value:
                self.finish(each)
        for tensor, copy in self.of_device:
            if tensor is value:
                write(tensor, copy)

    def lift(self, value):
        if isinstance(value, torch.Tensor):
            known = (tensor for tensor, copy in self.of_device if copy is value)
            tensor = next(known, None)
            if tensor is None:
                tensor = sent(value, torch.device("cuda", self.number()))
            return tensor
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.lift, value))
        return value


def on_cpu(name, operator):
    """The operator for tensors of a device, by the one for the CPU."""
    parameters = operator._schema.arguments
    written = [parameter.name for parameter in parameters if parameter.alias_info and parameter.alias_info.is_write]
    names = [parameter.name for parameter in parameters]
    rounded = 0 if written else WIDENED.get(operator._schema.name, 0)
    is_random = "generator" in names
    replace = REPLACED.get(name)
    tensors = [parameter.name for parameter in parameters if str(parameter.type) == "Tensor"]

    def operate(*arguments, **options):
        tell()
        call = Call(is_widened=rounded > 0)
        given = dict(zip(names, arguments)) | options
        # A tensor that C++ has made of a number is one again here, which another form of the operator takes.
        has_number = any(isinstance(given.get(name), (bool, int, float, complex)) for name in tensors)
        callee = operator.overloadpacket if has_number else replace or operator
        lowered = [call.lower(argument) for argument in arguments]
        options = {name: call.lower(option) for name, option in options.items()}
        if is_random and given.get("generator") is None:
            own = generator(torch.cuda.default_generators[call.number()])
            lowered[names.index("generator") :] = []
            options["generator"] = own
        result = callee(*lowered, **options)
        for name in written:
            call.finish(given.get(name))
        if call.narrow and isinstance(result, tuple):
            result = tuple(part if part is None else part.to(call.narrow) for part in result[:rounded]) + result[rounded:]
        elif call.narrow:
            result = result.to(call.narrow)
        return call.lift(result)

    return operate


def copy(tensor, source, non_blocking=False):
    """`aten::copy_`, one of whose tensors is on a device."""
    is_plain = tensor.dtype == source.dtype and tensor.size() == source.size() and tensor.stride() == source.stride()
    is_plain &= is_dense(tensor) and tensor.is_neg() == source.is_neg() and tensor.is_conj() == source.is_conj()
    device = tensor.device if tensor.is_cuda else source.device
    if tensor.is_cuda and source.is_cuda and tensor.device != source.device:
        torch.cuda.current_stream(source.device).synchronize()
    if is_plain:
        copy_bytes(tensor.data_ptr(), source.data_ptr(), tensor.nbytes, device)
        is_waited_for = not non_blocking if tensor.is_cuda != source.is_cuda else tensor.device != source.device
        if is_waited_for:
            torch.cuda.current_stream(device).synchronize()
        return tensor
    values = fetched(source) if source.is_cuda else source
    if not tensor.is_cuda:
        return tensor.copy_(values)
    tell()
    write(tensor, seen_as(torch.empty(reach(tensor), dtype=tensor.dtype), tensor).copy_(values))
    return tensor


def is_view(operator):
    """Whether it returns other names of its operands' memory."""
    aliases = [result.alias_info for result in operator._schema.returns if result.alias_info]
    return any(not alias.is_write for alias in aliases)


def operators():
    """Those that have a kernel of their own for GPUs."""
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, rest = name.partition("::")
        is_of_device = name in WHOLE or torch._C._dispatch_has_kernel_for_dispatch_key(name, "CUDA")
        if namespace != "aten" or name in KEPT or not is_of_device:
            continue
        packet, _, overload = rest.partition(".")
        operator = getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)
        if operator is not None and not is_view(operator):
            yield name, operator


def begin():
    """Takes the place of the operators' kernels for GPUs, for as long as what it returns lives."""
    library = torch.library.Library("aten", "IMPL", "CUDA")
    parameters = inspect.signature(library.impl).parameters
    override = {"allow_override": True} if "allow_override" in parameters else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, operator in operators():
            library.impl(name.removeprefix("aten::"), on_cpu(name, operator), **override)
        library.impl("copy_", copy, **override)
        library.impl("_use_cudnn_ctc_loss", lambda *_arguments, **_options: False, **override)
    # The ways to compute attention and batches' norms that are left call operators which the CPU has, too.
    torch.backends.cudnn.enabled = False
    for leave in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, leave, bool)(False)
    return library
