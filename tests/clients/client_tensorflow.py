"""TensorFlow: products, convolutions, recurrent cells, FFTs, a model that learns, and functions that XLA compiles, against its CPU. It calls
cuBLAS, cuBLASLt, cuDNN, cuFFT and cuSOLVER; products without TF32."""
import os

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
import numpy as np
import tensorflow as tf

import checks

RANDOM = np.random.default_rng(0)
tf.config.experimental.enable_tensor_float_32_execution(False)
assert tf.config.list_physical_devices("GPU")


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def same(function, *inputs, atol=1e-4):
    """The function's results and the gradients of their sum on both."""
    found = []
    for device in ("/CPU:0", "/GPU:0"):
        with tf.device(device):
            variables = [tf.Variable(x) for x in inputs]
            with tf.GradientTape() as tape:
                out = function(*variables)
                total = tf.reduce_sum(tf.math.real(out) * 0.5)
            found.append([out.numpy()] + [g.numpy() for g in tape.gradient(total, variables)])
            assert device[1:4] in out.device
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=atol)


def products():
    same(lambda x, y: tf.nn.softmax(tf.matmul(x, y)), numbers(32, 48), numbers(48, 16))
    same(lambda x, y: tf.einsum("bij,bkj->bik", x, y), numbers(3, 8, 16), numbers(3, 5, 16))


def convolution():
    same(lambda x, k: tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, k, 1, "SAME")), 2, 2, "VALID"), numbers(2, 12, 12, 3), numbers(3, 3, 3, 8))


def transforms():
    same(lambda x: tf.abs(tf.signal.rfft2d(x)) ** 2, numbers(2, 16, 24), atol=1e-2)


def systems():
    a = numbers(12, 12)
    same(lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + 12 * tf.eye(12)), a)
    same(lambda x, y: tf.linalg.solve(x + 12 * tf.eye(12), y), a, numbers(12, 3))


def compiled():
    same(tf.function(lambda x, y: tf.nn.gelu(tf.matmul(x, y)) + tf.reduce_logsumexp(x), jit_compile=True), numbers(16, 32), numbers(32, 8))


def learns():
    x = numbers(64, 10)
    y = (x[:, :1] * x[:, 1:2] > 0).astype(np.float32)
    losses = []
    for device in ("/CPU:0", "/GPU:0"):
        tf.keras.utils.set_random_seed(1)
        with tf.device(device):
            model = tf.keras.Sequential([tf.keras.layers.Dense(32, "relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(1, "sigmoid")])
            model.compile(tf.keras.optimizers.Adam(0.01), "binary_crossentropy")
            losses.append(model.fit(x, y, batch_size=32, epochs=3, shuffle=False, verbose=0).history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-3)
    assert losses[1][-1] < losses[1][0]


checks.run([products, convolution, transforms, systems, compiled, learns])
