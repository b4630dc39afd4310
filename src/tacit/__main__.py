"""`python -m tacit` is `tacit`."""

from tacit.cli import main

if __name__ == "__main__":
    main()
