"""What the client scripts share: each check is a function that raises when a result is wrong."""
import sys
import traceback


def run(checks):
    failed = 0
    for check in checks:
        name = check.__name__
        try:
            check()
            print("ok", name, flush=True)
        except Exception as error:  # the next check may still say something
            failed += 1
            print("not ok", name, type(error).__name__, str(error)[:200], flush=True)
            traceback.print_exc()
    sys.exit(failed != 0)
