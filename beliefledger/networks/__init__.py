"""Small networks that read sentences: what the gate and the views both count with."""
