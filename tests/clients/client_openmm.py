"""OpenMM: forces, energies and 20 steps of a box of charged pairs, with cut-offs and with particle-mesh Ewald sums, as its reference
platform has them. Its kernels come from NVRTC, its FFTs are its own or cuFFT's."""
import numpy as np
import openmm as mm

import checks

N, LENGTH = 64, 2.6
RANDOM = np.random.default_rng(1)
GRID = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), -1).reshape(-1, 3) * LENGTH / 4 + RANDOM.standard_normal((N, 3)) * 0.02


def box(method):
    system = mm.System()
    system.setDefaultPeriodicBoxVectors(mm.Vec3(LENGTH, 0, 0), mm.Vec3(0, LENGTH, 0), mm.Vec3(0, 0, LENGTH))
    pairs, bonds, angles = mm.NonbondedForce(), mm.HarmonicBondForce(), mm.HarmonicAngleForce()
    pairs.setNonbondedMethod(method)
    pairs.setCutoffDistance(1.0)
    for i in range(N):
        system.addParticle(20.0)
        pairs.addParticle(0.2 * (-1) ** i, 0.3, 0.5)
    for i in range(0, N, 2):
        bonds.addBond(i, i + 1, 0.35, 1000.0)
        pairs.addException(i, i + 1, 0, 1, 0)
    for i in range(0, N - 2, 4):
        angles.addAngle(i, i + 1, i + 2, 2.0, 50.0)
    for force in (pairs, bonds, angles):
        system.addForce(force)
    return system


def simulate(method, platform, **properties):
    """Energy (kJ/mol) and forces at first, energy and positions (nm) behind 20 steps of 2 fs."""
    integrator = mm.VerletIntegrator(0.002)
    context = mm.Context(box(method), integrator, mm.Platform.getPlatformByName(platform), properties)
    context.setPositions(GRID)
    first = context.getState(getEnergy=True, getForces=True)
    integrator.step(20)
    last = context.getState(getEnergy=True, getPositions=True)
    return (first.getPotentialEnergy()._value, first.getForces(asNumpy=True)._value,
            last.getPotentialEnergy()._value, last.getPositions(asNumpy=True)._value)


def same(name, method):
    def check():
        want, got = simulate(method, "Reference"), simulate(method, "CUDA", Precision="mixed")
        for a, b, tolerance in zip(want, got, (1e-2, 1e-2, 1e-2, 1e-5)):
            np.testing.assert_allclose(b, a, atol=tolerance)
    check.__name__ = name
    return check


checks.run([same("cutoff", mm.NonbondedForce.CutoffPeriodic), same("ewald", mm.NonbondedForce.PME)])
