"""`python -m beliefledger` is the command line."""

from beliefledger.tools.cli import main

if __name__ == "__main__":
    main()
