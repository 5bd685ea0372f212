"""An ONNX graph, put together operator by operator; values are referred to by their names, as ONNX does."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, UInt8

from pc3d.networks.layers import Activation
from pc3d.system.errors import MissingExtra

try:
    import onnx
    from onnx import TensorProto, numpy_helper
    from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
except ImportError as error:
    raise MissingExtra("onnx", "export") from error

OPSET = 13  # old on purpose (2020): runtimes for browsers and small machines know it, too
IR_VERSION = 7  # the one that came with it; the newest does not load in every runtime
OPERATORS: dict[Activation, str] = {"relu": "Relu", "tanh": "Tanh"}
INT8_ZERO, INT8_STEPS = 128, 127  # the byte that means 0, and how many steps there are to either side
Shapes = dict[str, list[int | str]]  # by the value's name; a text is a dimension that is left free


class GraphBuilder:
    """The nodes and constants so far."""

    def __init__(self, weights: dict[str, np.ndarray], *, int8: bool) -> None:
        self._weights, self._int8 = weights, int8
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def apply(self, operator: str, *inputs: str, name: str | None = None, **attributes: int) -> str:
        """One operator with one output, which gets the name, or one made up for it."""
        name = name or f"{operator.lower()}_{len(self._nodes)}"
        self._nodes.append(make_node(operator, inputs, [name], name, **attributes))
        return name

    def split(self, value: str, widths: Sequence[int]) -> list[str]:
        """Cut the features of a value into neighbouring parts."""
        names = [f"{value}_part_{part}" for part in range(len(widths))]
        sizes = self.constant(f"{value}_widths", np.array(widths, np.int64))
        self._nodes.append(make_node("Split", [value, sizes], names, f"{value}_split", axis=1))
        return names

    def reshape(self, value: str, shape: Sequence[int]) -> str:
        """The same numbers in another shape, with -1 for the batch."""
        return self.apply("Reshape", value, self.constant(f"{value}_shape", np.array(shape, np.int64)))

    def dense(self, layer: str, inputs: str, name: str | None = None) -> str:
        """A linear layer, by the name of its weights."""
        bias = self.weight(f"{layer}.bias")
        if self._int8:
            return self.apply("Add", self._int8_product(layer, inputs), bias, name=name)
        return self.apply("Gemm", inputs, self.weight(f"{layer}.weight"), bias, name=name)

    def mlp(self, name: str, layers: int, activation: Activation, inputs: str) -> str:
        """Dense layers with an activation between them."""
        for layer in range(layers - 1):
            inputs = self.activate(activation, self.dense(f"{name}.layers.{layer}", inputs))
        return self.dense(f"{name}.layers.{layers - 1}", inputs)

    def activate(self, activation: Activation, inputs: str) -> str:
        return self.apply(OPERATORS[activation], inputs)

    def weight(self, name: str) -> str:
        return self.constant(name, self._weights[name])

    def constant(self, name: str, array: np.ndarray | np.float32) -> str:
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def model(self, inputs: Shapes, outputs: Shapes, truths: Shapes, title: str) -> onnx.ModelProto:
        """The finished model, checked; all values are real numbers, but for inputs that are true or false."""
        constants = list(self._constants.values())
        given = [*_values(inputs, TensorProto.FLOAT), *_values(truths, TensorProto.BOOL)]
        graph = make_graph(self._nodes, title, given, _values(outputs, TensorProto.FLOAT), constants)
        opset = make_opsetid("", OPSET)
        model = make_model(graph, producer_name="pc3d", opset_imports=[opset], ir_version=IR_VERSION)
        onnx.checker.check_model(model, full_check=True)
        return model

    def _int8_product(self, layer: str, inputs: str) -> str:
        """Inputs are brought to eight bits as they come, the matrix is stored so; the sum is exact."""
        matrix, scales = to_int8(self._weights[f"{layer}.weight"])
        parts = [f"{layer}.input", f"{layer}.input_scale", f"{layer}.input_zero"]
        self._nodes.append(make_node("DynamicQuantizeLinear", [inputs], parts, f"{layer}.to_int8"))
        quantised, input_scale, input_zero = parts
        stored = self.constant(f"{layer}.weight", matrix)
        zero = self.constant("int8_zero", np.array(INT8_ZERO, np.uint8))
        total = self.apply("MatMulInteger", quantised, stored, input_zero, zero)
        total = self.apply("Cast", total, to=TensorProto.FLOAT)
        column_scales = self.constant(f"{layer}.weight_scales", scales)
        return self.apply("Mul", total, self.apply("Mul", input_scale, column_scales))


def to_int8(
    matrix: Float[np.ndarray, "input output"],
) -> tuple[UInt8[np.ndarray, "input output"], Float[np.ndarray, " output"]]:
    """Each column in eight bits, with a scale of its own.

    Unsigned, because the product of unsigned inputs with signed weights saturates on older processors.
    """
    scales = np.maximum(np.abs(matrix).max(axis=0) / INT8_STEPS, np.finfo(np.float32).tiny)
    steps = np.rint(matrix / scales).astype(np.int16)
    return (steps + INT8_ZERO).astype(np.uint8), scales.astype(np.float32)


def _values(shapes: Shapes, kind: int) -> list[onnx.ValueInfoProto]:
    return [make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]
