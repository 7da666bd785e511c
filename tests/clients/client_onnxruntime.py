"""ONNX Runtime: models of a few nodes, which its CUDA provider gives to cuBLAS, cuDNN and kernels of its own, against its CPU provider."""
import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import checks

RANDOM = np.random.default_rng(0)
PROVIDERS = ["CPUExecutionProvider"], [("CUDAExecutionProvider", {"use_tf32": 0}), "CPUExecutionProvider"]
X, IMAGE = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((4, 16), (1, 3, 16, 16)))
W, B, K = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((16, 32), (32,), (8, 3, 3, 3)))


def same(x, constants, *nodes):
    """The last node's `o` of the graph, whose input is x, on both."""
    nodes = [helper.make_node(name, ins.split(), outs.split(), **attributes) for name, ins, outs, attributes in nodes]
    graph = helper.make_graph(nodes, "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("o", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(a, name) for name, a in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    sessions = [ort.InferenceSession(model.SerializeToString(), providers=p) for p in PROVIDERS]
    assert sessions[1].get_providers()[0] == "CUDAExecutionProvider"
    one, other = (s.run(None, {"x": x})[0] for s in sessions)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def perceptron():
    same(X, {"w": W, "b": B}, ("Gemm", "x w b", "y", {}), ("Relu", "y", "z", {}), ("Softmax", "z", "o", {"axis": -1}))


def convolution():
    same(IMAGE, {"k": K}, ("Conv", "x k", "y", {"pads": [1, 1, 1, 1]}), ("Relu", "y", "z", {}),
         ("MaxPool", "z", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}), ("GlobalAveragePool", "p", "o", {}))


def norm():
    same(X, {"w": W, "b": B}, ("MatMul", "x w", "y", {}), ("LayerNormalization", "y b b", "z", {"axis": -1}), ("Erf", "z", "e", {}),
         ("ReduceSum", "e", "o", {"keepdims": 0}))


def largest():
    same(X, {"k": np.array([3])}, ("TopK", "x k", "v i", {}), ("Cast", "i", "f", {"to": TensorProto.FLOAT}), ("Add", "v f", "s", {}),
         ("Transpose", "s", "o", {}))


checks.run([perceptron, convolution, norm, largest])
