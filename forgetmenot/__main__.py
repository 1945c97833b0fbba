"""`python -m forgetmenot` does what the `forgetmenot` command does."""

from forgetmenot.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
