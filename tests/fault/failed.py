"""What the torture's checks raise."""


class Failed(Exception):
    """What the torture found."""
