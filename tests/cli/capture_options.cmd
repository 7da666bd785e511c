$W run tests/exec/cases/reduce-0001-_Z6reducePKiiPiS1_.case --grid 4
