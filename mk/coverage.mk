# Executed lines and branches (gcc and its gcov): make coverage runs all tests in build/cov and prints a table per folder.

.PHONY: coverage
coverage:
	$(Q)$(MAKE) --no-print-directory MODE=cov all tests
	$(Q)find build/cov -name '*.gcda' -delete
	$(Q)$(MAKE) --no-print-directory MODE=cov test || echo 'coverage: some tests failed, see above'
	$(Q)python3 tools/coverage.py build/cov
