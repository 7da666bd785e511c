"""Qiskit Aer's simulator of quantum circuits (Thrust): state vectors of the GPU are those of the CPU."""
import numpy as np
from qiskit import QuantumCircuit, transpile
from qiskit_aer import AerSimulator

import checks


def circuit(qubits):
    c = QuantumCircuit(qubits)
    c.h(0)
    for i in range(qubits - 1):
        c.cx(i, i + 1)
        c.rz(0.3 * i, i)
        c.ry(0.2, i + 1)
    c.ccx(0, 1, 2)
    c.save_statevector()
    return c


def states(precision, tolerance):
    def check():
        vectors = []
        for device in ("CPU", "GPU"):
            simulator = AerSimulator(method="statevector", device=device, precision=precision)
            vectors.append(np.asarray(simulator.run(transpile(circuit(7), simulator)).result().get_statevector()))
        np.testing.assert_allclose(*vectors, atol=tolerance)
    check.__name__ = precision
    return check


checks.run([states("double", 1e-12), states("single", 1e-5)])
